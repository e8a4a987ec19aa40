// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/call_line.h"

#include <charconv>
#include <chrono>

#include "base/assert.h"
#include "base/place.h"
#include "base/words.h"
#include "libdat/api/refused_call.h"
#include "libdat/object/status.h"

namespace softdat::api {
namespace {

constexpr std::uint64_t kInfinite = 0xffffffff;  // DAT_TIMEOUT_INFINITE

constinit thread_local std::uint64_t t_empty_dequeues = 0;

bool is_in_hex(std::string_view name) {
  const auto has = [name](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return has("flag") || has("mask") || has("privileges") || name == "mem_priv" || has("context");
}

}  // namespace

std::string hex_text(std::uint64_t number) {
  char digits[2 * sizeof number];
  return "0x" + std::string(digits, std::to_chars(digits, digits + sizeof digits, number, 16).ptr);
}

std::string number_text(std::string_view name, std::uint64_t number, bool is_signed) {
  if (name == "timeout") return number == kInfinite ? "infinite" : std::to_string(number) + " us";
  if (is_in_hex(name)) return hex_text(number);
  return is_signed ? std::to_string(static_cast<std::int64_t>(number)) : std::to_string(number);
}

std::string pointer_text(const void* pointer) {
  return pointer == nullptr ? "null" : hex_text(reinterpret_cast<std::uintptr_t>(pointer));
}

CallLine::CallLine(std::string_view signature) : names_(signature) {
  text_ = std::string(next_name()) + '(';
}

std::string_view CallLine::next_name() {
  SOFTDAT_DEBUG_CHECK(!names_.empty(), "a signature names each argument");
  const std::size_t end = names_.find(' ');
  const std::string_view name = names_.substr(0, end);
  names_.remove_prefix(end == std::string_view::npos ? names_.size() : end + 1);
  return name;
}

void CallLine::add(const std::string& text) {
  if (has_arguments_) text_ += ", ";
  has_arguments_ = true;
  text_ += std::string(next_name()) + ' ' + text;
}

void CallLine::add_number(std::uint64_t number, bool is_signed) {
  add(number_text(names_.substr(0, names_.find(' ')), number, is_signed));
}

void CallLine::print(std::uint32_t answer, base::Duration took, const void* caller) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  std::string line = text_ + ") = " + answer_text(answer) + ", " + std::to_string(microseconds) + " us";
  line += base::by_text("called", caller);
  if (t_empty_dequeues > 0) {
    line += ", after " + std::to_string(t_empty_dequeues) + " dat_evd_dequeue that found nothing";
    t_empty_dequeues = 0;
  }
  base::print_sentence(line);
}

// A program that polls would fill the log, so empty dequeues are only counted, and told with the next line.
bool is_traced(std::string_view signature, std::uint32_t answer) {
  const bool is_empty = static_cast<object::StatusType>(answer >> 16 & 0x3fff) == object::StatusType::kQueueEmpty;
  if (!is_empty || !signature.starts_with("dat_evd_dequeue")) return true;
  ++t_empty_dequeues;
  return false;
}

}  // namespace softdat::api
