// SPDX-License-Identifier: BSD-2-Clause
// Which call of the consumer's the thread is in, while words are wanted (base/words.h): its name, where it was made,
// and why it is refused. Nobody pays for it otherwise: the provider's table then has the functions themselves.
#pragma once

#include <string>
#include <string_view>

namespace softdat::base {

// Stands on the stack of the call. Calls may nest, as when a wait agent calls.
class Call {
 public:
  // `caller`: the return address of the call.
  Call(const char* name, const void* caller);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  const char* name() const { return name_; }
  // The function's name, with which name() begins.
  std::string_view function() const { return std::string_view(name_).substr(0, std::string_view(name_).find(' ')); }
  const void* caller() const { return caller_; }

  // Why it is refused, as a sentence without a full stop. The first word counts.
  void refuse(std::string reason);
  const std::string& reason() const { return reason_; }

 private:
  const char* const name_;
  const void* const caller_;
  Call* const outer_;
  std::string reason_;
};

// Null: none, or words are not wanted.
Call* current_call();

// Where the current call was made; null without one.
const void* calling_place();

}  // namespace softdat::base
