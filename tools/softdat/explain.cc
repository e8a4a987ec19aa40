// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/explain.h"

#include <dat2/udat.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/softdat/code_advice.h"
#include "tools/softdat/command_line.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/event_names.h"
#include "tools/softdat/output.h"
#include "tools/softdat/words.h"

namespace softdat::tools {
namespace {

// More types and subtypes than DAT has.
constexpr DAT_RETURN kTypes = 64;
constexpr DAT_RETURN kSubtypes = 256;
constexpr DAT_RETURN kSubtypeMask = 0xffff;

std::optional<std::uint32_t> number_of(const std::string& code) {
  const bool is_hexadecimal = code.starts_with("0x") || code.starts_with("0X");
  const char* const begin = code.data() + (is_hexadecimal ? 2 : 0);
  const char* const end = code.data() + code.size();
  std::uint32_t number = 0;
  const auto [rest, error] = std::from_chars(begin, end, number, is_hexadecimal ? 16 : 10);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

std::string more(const char* kind, const char* text) {
  return text == nullptr ? "" : fmt::format("  {:<18}{}\n", kind, text);
}

std::string entry(const char* kind, const std::string& text, const Advice* advice, const std::string& subtype = "") {
  if (text.starts_with("unknown")) return "";
  std::string result = fmt::format("{:<20}{}\n", kind, text);
  if (!subtype.empty()) result += more("in particular", subtype.c_str());
  if (advice == nullptr) return result;
  return result + more("meaning", advice->meaning) + more("usual causes", advice->causes) +
         more("what to do", advice->remedy) + more("manual page", advice->page);
}

std::string explain_return(DAT_RETURN code) {
  const char *type = nullptr, *subtype = nullptr;
  dat_strerror(code, &type, &subtype);
  const bool has_subtype = (code & kSubtypeMask) != 0;
  return entry("return value", describe(code), advice_on_return(code), has_subtype ? subtype_meaning(subtype) : "");
}

std::string explain_event(std::uint32_t number) {
  const auto event = static_cast<DAT_EVENT_NUMBER>(number);
  return entry("event", event_text(event), advice_on_event(event));
}

std::string explain_completion(std::uint32_t number) {
  const auto status = static_cast<DAT_DTO_COMPLETION_STATUS>(number);
  return entry("completion status", completion_status_text(status), advice_on_completion(status));
}

std::string explain_number(std::uint32_t number) {
  // A failure or a warning has its class in the upper bits.
  const bool is_answer = number == DAT_SUCCESS || (number & (DAT_CLASS_ERROR | DAT_CLASS_WARNING)) != 0;
  // One number may be a return value, an event and a status; all that it can be is told.
  return (is_answer ? explain_return(number) : "") + explain_event(number) + explain_completion(number);
}

// Each name once, with what it explains to.
struct Named {
  std::string name;
  std::string text;
};

void add(std::vector<Named>& all, const std::string& text, const std::string& explained) {
  if (!explained.empty()) all.push_back({text.substr(0, text.find(' ')), explained});
}

std::vector<Named> all_names() {
  std::vector<Named> all;
  const char *type = nullptr, *subtype = nullptr;
  for (DAT_RETURN number = 0; number < kTypes; ++number) {
    const DAT_RETURN code = number << 16 | DAT_CLASS_ERROR;
    if (dat_strerror(code, &type, &subtype) == DAT_SUCCESS) all.push_back({type, explain_return(code)});
  }
  // Its type lies far above the others (dat_error.h), out of the loop's reach.
  all.push_back({"DAT_NOT_IMPLEMENTED", explain_return(DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED)});
  for (DAT_RETURN number = 1; number < kSubtypes; ++number) {
    if (dat_strerror(number, &type, &subtype) != DAT_SUCCESS) continue;
    all.push_back(
        {subtype, fmt::format("{:<20}{}\n", "subtype", subtype) + more("meaning", subtype_meaning(subtype).c_str())});
  }
  for (std::uint32_t number = 0; number < 0x10000; ++number) {
    const std::string text = event_text(static_cast<DAT_EVENT_NUMBER>(number));
    if (!text.starts_with("unknown")) add(all, text, explain_event(number));
  }
  for (std::uint32_t number = 0; number < kTypes; ++number) {
    const std::string text = completion_status_text(static_cast<DAT_DTO_COMPLETION_STATUS>(number));
    if (!text.starts_with("unknown")) add(all, text, explain_completion(number));
  }
  return all;
}

std::string explain_name(const std::string& code) {
  const std::string wanted = lower_case(code);
  std::string text;
  // The entries whose names end in the word: "flushed" finds DAT_DTO_ERR_FLUSHED.
  std::string longer;
  std::vector<std::string> names;
  for (const Named& named : all_names()) {
    const std::string name = lower_case(named.name);
    if (name == wanted || name == "dat_" + wanted) text += named.text;
    if (!wanted.empty() && name.ends_with('_' + wanted)) longer += named.text;
    names.push_back(named.name);
  }
  if (text.empty()) text = longer;
  if (!text.empty()) return text;
  throw UsageError(fmt::format("\"{}\" is not a code; write a number of 32 bits, as 0x800a0064 or 16392, or a name{}",
                               code, did_you_mean(code, names)));
}

}  // namespace

int run_explain(const std::string& code) {
  if (code.empty()) throw UsageError("softdat explain needs a code, as in: softdat explain 0x4003");
  const auto number = number_of(code);
  const std::string text = number ? explain_number(*number) : explain_name(code);
  if (text.empty()) throw Failure(fmt::format("\"{}\" is no code of DAT", code));
  print_out(text);
  return 0;
}

}  // namespace softdat::tools
