// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/explain.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

#include "tools/softdat/command_line.h"
#include "tools/softdat/event_names.h"
#include "tools/softdat/output.h"

namespace softdat::tools {
namespace {

std::uint32_t number_of(const std::string& code) {
  const bool is_hexadecimal = code.starts_with("0x") || code.starts_with("0X");
  const char* const begin = code.data() + (is_hexadecimal ? 2 : 0);
  const char* const end = code.data() + code.size();
  std::uint32_t number = 0;
  const auto [rest, error] = std::from_chars(begin, end, number, is_hexadecimal ? 16 : 10);
  if (error == std::errc() && rest == end) return number;
  throw UsageError(fmt::format("\"{}\" is not a code; write a number of 32 bits, as 0x800a0064 or 16392", code));
}

std::string line(const char* kind, const std::string& text) {
  return text.starts_with("unknown") ? "" : fmt::format("{:<20}{}\n", kind, text);
}

}  // namespace

int run_explain(const std::string& code) {
  const std::uint32_t number = number_of(code);
  // A failure or a warning has its class in the upper bits.
  const bool is_answer = number == DAT_SUCCESS || (number & (DAT_CLASS_ERROR | DAT_CLASS_WARNING)) != 0;
  std::string text = is_answer ? line("return value", describe(number)) : "";
  text += line("event", event_text(static_cast<DAT_EVENT_NUMBER>(number)));
  text += line("completion status", completion_status_text(static_cast<DAT_DTO_COMPLETION_STATUS>(number)));
  if (text.empty()) throw Failure(fmt::format("\"{}\" is no code of DAT", code));
  print_out(text);
  return 0;
}

}  // namespace softdat::tools
