// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/refusal_reason.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/descriptor_shortage.h"
#include "libdat/api/call_line.h"
#include "libdat/api/refusal_sentence.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::api {
namespace {

using object::HandleHistory;
using object::HandleTable;
using Type = CallArgument::Type;

// A call lacks what it lacks for want of descriptors if there were none while it was under way.
constexpr auto kJustNow = std::chrono::seconds(1);

// The n-th word of `text`, counted from 0; empty when there are fewer.
std::string_view word(std::string_view text, std::size_t n) {
  for (; n > 0; --n) {
    const std::size_t end = text.find(' ');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find(' '));
}

std::string_view after(std::string_view text, std::string_view prefix) {
  return text.substr(prefix.size());
}

std::size_t number_behind(std::string_view text, std::string_view prefix) {
  const std::string_view digits = after(text, prefix);
  std::size_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

const void* handle_of(const CallArgument& argument) {
  return reinterpret_cast<const void*>(argument.bits);  // NOLINT(performance-no-int-to-ptr): that of a pointer.
}

std::string sentence_of(const RefusedCall& call) {
  // docs/ERRORS.md has the names without this prefix.
  std::string_view subtype = call.subtype;
  if (subtype.starts_with("DAT_")) subtype.remove_prefix(4);
  return refusal_sentence(word(call.signature, 0), after(call.type, "DAT_"), subtype, call.is_abi20);
}

std::string value_text(const RefusedCall& call, std::size_t number) {
  if (number == 0 || number > call.arguments.size()) return "";
  const CallArgument& argument = call.arguments[number - 1];
  const std::string_view name = word(call.signature, number);
  if (argument.type == Type::kNumber) return " is " + number_text(name, argument.bits, argument.is_signed);
  if (argument.type == Type::kOther) return "";
  if (argument.bits == 0) return " is null";
  return argument.type == Type::kPointer ? " is " + pointer_text(handle_of(argument)) : "";
}

// The parts of a sentence such as "segments, but no vector; a segment outside its LMR" that can be said of a null
// pointer, or of one that is not null. The whole sentence if there are none.
std::string fitting_part(const std::string& sentence, bool is_null) {
  std::string text;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find("; ", at), sentence.size());
    const std::string part = sentence.substr(at, end - at);
    at = end + 2;
    const bool is_of_null =
        part.starts_with("no ") || part.starts_with("nowhere") || part.find("but no") != std::string::npos;
    if (is_of_null == is_null) text += (text.empty() ? "" : "; ") + part;
  }
  return text.empty() ? sentence : text;
}

// "argument 2, evd_min_qlen, is -1: the length is not positive ...".
std::string argument_reason(const RefusedCall& call) {
  const std::size_t number = number_behind(call.subtype, "DAT_INVALID_ARG");
  const std::string text =
      "argument " + std::to_string(number) + ", " + std::string(word(call.signature, number)) + ',';
  const std::string value = value_text(call, number);
  const bool is_pointer =
      number > 0 && number <= call.arguments.size() && call.arguments[number - 1].type == Type::kPointer;
  std::string sentence = sentence_of(call);
  if (is_pointer) sentence = fitting_part(sentence, call.arguments[number - 1].bits == 0);
  if (sentence.empty()) return text + (value.empty() ? "" : value + ',') + " has a value that is not valid";
  return value.empty() ? text + " is refused: " + sentence : text + value + ": " + sentence;
}

// The part of an argument's name by which the subtype means it.
std::string_view name_part(std::string_view subtype) {
  struct Part {
    std::string_view subtype, name;
  };
  constexpr Part kParts[] = {
      {"_EVD_RECV", "recv"},
      {"_EVD_REQUEST", "request"},
      {"_EVD_CONN", "connect_evd"},
      {"_EVD_ASYNC", "async_evd"},
      {"_EVD_CR", "evd_handle"},
      {"_IA", "ia_handle"},
      {"_EP", "ep_"},
      {"_LMR", "lmr_handle"},
      {"_RMR", "rmr_handle"},
      {"_PZ", "pz_handle"},
      {"_PSP", "psp_handle"},
      {"_RSP", "rsp_handle"},
      {"_CR", "cr_handle"},
      {"_CNO", "cno_handle"},
      {"_SRQ", "srq_handle"},
      {"_CSP", "csp_handle"},
  };
  const auto* const found = std::ranges::find(kParts, after(subtype, "DAT_INVALID_HANDLE"), &Part::subtype);
  return found == std::end(kParts) ? std::string_view() : found->name;
}

bool is_live(const CallArgument& argument) {
  return HandleTable::instance().history(handle_of(argument)).state == HandleHistory::State::kLive;
}

// Which argument is meant: by its number, or the first of that name that is no live object, or the first of that name.
std::optional<std::size_t> refused_handle(const RefusedCall& call) {
  if (const std::size_t number = number_behind(call.subtype, "DAT_INVALID_HANDLE"); number > 0) return number;
  const bool is_call_on_evd = call.signature.starts_with("dat_evd_") && !call.signature.starts_with("dat_evd_create ");
  const std::string_view part = name_part(call.subtype);
  if (is_call_on_evd && call.subtype.starts_with("DAT_INVALID_HANDLE_EVD_")) return 1;
  if (part.empty()) return std::nullopt;
  std::optional<std::size_t> first;
  for (std::size_t number = 1; number <= call.arguments.size(); ++number) {
    const CallArgument& argument = call.arguments[number - 1];
    const bool is_meant = word(call.signature, number).find(part) != std::string_view::npos;
    if (argument.type != Type::kHandle || !is_meant) continue;
    if (!is_live(argument)) return number;
    if (!first) first = number;
  }
  return first;
}

// The adapter of the object that the first argument names.
const object::InterfaceAdapter* adapter_of(const RefusedCall& call, object::Pin<object::Object>& pin) {
  if (call.arguments.empty() || call.arguments[0].type != Type::kHandle) return nullptr;
  pin = HandleTable::instance().pin_any(handle_of(call.arguments[0]));
  return pin ? &pin->ia() : nullptr;
}

std::string stream_rule(std::string_view subtype) {
  return "the EVD for " + std::string(after(subtype, "DAT_INVALID_HANDLE_EVD_")) +
         " events is no live EVD of this adapter, or its evd_flags lack that stream";
}

// "ep_handle is that of an EP that was freed by main at a.c:5".
std::string handle_reason(const RefusedCall& call) {
  const bool is_creation = !call.signature.starts_with("dat_evd_") || call.signature.starts_with("dat_evd_create ");
  std::string text;
  if (is_creation && call.subtype.starts_with("DAT_INVALID_HANDLE_EVD_")) text = stream_rule(call.subtype);
  const std::optional<std::size_t> number = refused_handle(call);
  const std::string sentence = sentence_of(call);
  if (!number || *number > call.arguments.size()) return !text.empty() || sentence.empty() ? text : sentence;
  const CallArgument& argument = call.arguments[*number - 1];
  object::Pin<object::Object> pin;
  const object::InterfaceAdapter* const ia = adapter_of(call, pin);
  text += (text.empty() ? "" : "; ") + std::string(word(call.signature, *number)) + " is " +
          object::handle_text(handle_of(argument), ia);
  const bool is_told = !is_live(argument) || text.find("; ") != std::string::npos || sentence.empty();
  return is_told ? text : text + " (" + sentence + ')';
}

}  // namespace

std::string reason_of(const RefusedCall& call) {
  constexpr std::string_view kState = "DAT_INVALID_STATE_", kResource = "DAT_RESOURCE_";
  if (call.subtype.starts_with("DAT_INVALID_ARG")) return argument_reason(call);
  if (call.subtype.starts_with("DAT_INVALID_HANDLE")) return handle_reason(call);
  const std::string sentence = sentence_of(call);
  if (call.subtype.starts_with(kResource)) {
    if (base::was_short_of_descriptors(kJustNow)) return base::shortage_text();
    return "there is not enough of: " + std::string(after(call.subtype, kResource)) +
           (sentence.empty() ? "" : " (" + sentence + ')');
  }
  if (!sentence.empty()) return sentence;
  if (call.subtype.starts_with(kState)) {
    return "the object's state does not allow it: " + std::string(after(call.subtype, kState));
  }
  return "";
}

}  // namespace softdat::api
