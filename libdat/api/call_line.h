// SPDX-License-Identifier: BSD-2-Clause
// A call of the consumer's as one line of SOFTDAT_LOG=trace:
//   dat_psp_create(ia_handle 0x1000003, conn_qual 5555, ..., psp_handle 0x1000009) = DAT_SUCCESS, called by main at
//   s.c:9
// A dequeue that finds nothing has no line; the thread's next line says how many there were.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace softdat::api {

// "0x7f00", or "null".
std::string pointer_text(const void* pointer);
std::string hex_text(std::uint64_t number);
// As the argument's name asks for: flags in hexadecimal, a time-out in microseconds.
std::string number_text(std::string_view name, std::uint64_t number, bool is_signed);

// Used by one thread. Throws std::bad_alloc.
class CallLine {
 public:
  // `signature`: the function's name and those of its arguments, separated by blanks.
  explicit CallLine(std::string_view signature);

  // The next argument. A number is written as its name asks for: flags in hexadecimal, a time-out in microseconds.
  void add(const std::string& text);
  void add_number(std::uint64_t number, bool is_signed);

  // Prints the line. `caller`: the return address of the call.
  void print(std::uint32_t answer, base::Duration took, const void* caller);

 private:
  std::string_view next_name();

  std::string_view names_;  // of the arguments to come
  std::string text_;
  bool has_arguments_ = false;
};

// Whether a line is to be printed for a call with this answer; counts those dequeues that have none.
bool is_traced(std::string_view signature, std::uint32_t answer);

}  // namespace softdat::api
