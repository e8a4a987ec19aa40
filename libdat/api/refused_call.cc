// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/refused_call.h"

#include <dlfcn.h>

#include <charconv>
#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include "base/descriptor_shortage.h"
#include "base/place.h"
#include "base/words.h"
#include "libdat/object/status.h"

namespace softdat::api {
namespace {

using object::StatusType;

// A call lacks what it lacks for want of descriptors if there were none while it was under way.
constexpr auto kJustNow = std::chrono::seconds(1);

struct Names {
  std::string type;
  std::string subtype;
};

// The registry knows them; the provider may be asked without one.
Names names_of(std::uint32_t answer) {
  using Strerror = std::uint32_t(std::uint32_t, const char**, const char**);
  auto* const ask = reinterpret_cast<Strerror*>(::dlsym(RTLD_DEFAULT, "dat_strerror"));
  const char *type = nullptr, *subtype = nullptr;
  if (ask != nullptr && ask(answer, &type, &subtype) == 0) return {type, subtype};
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", answer);
  return {text, ""};
}

bool tells_no_mistake(std::uint32_t answer) {
  const auto type = static_cast<StatusType>(answer >> 16 & 0x3fff);
  return type == StatusType::kQueueEmpty || type == StatusType::kTimeoutExpired ||
         type == StatusType::kInterruptedCall || type == StatusType::kAbort || type == StatusType::kNotImplemented;
}

// The n-th word of `text`, counted from 0; empty when there are fewer.
std::string_view word(std::string_view text, int n) {
  for (; n > 0; --n) {
    const std::size_t end = text.find(' ');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find(' '));
}

// "argument 3, local_iov, has a value that is not valid": what the subtype's name says.
std::string reason_of(const std::string& subtype, std::string_view signature) {
  constexpr std::string_view kArgument = "DAT_INVALID_ARG", kHandle = "DAT_INVALID_HANDLE",
                             kState = "DAT_INVALID_STATE_";
  const auto after = [&](std::string_view prefix) { return subtype.substr(prefix.size()); };
  if (subtype.starts_with(kArgument)) {
    const std::string number = after(kArgument);
    int n = 0;
    std::from_chars(number.data(), number.data() + number.size(), n);
    return "argument " + number + ", " + std::string(word(signature, n)) + ", has a value that is not valid";
  }
  const bool is_call_on_evd = signature.starts_with("dat_evd_") && !signature.starts_with("dat_evd_create ");
  if (is_call_on_evd && subtype.starts_with("DAT_INVALID_HANDLE_EVD_")) {
    return "the handle is that of no live EVD: it was freed, never created, or is of another kind";
  }
  if (subtype.starts_with("DAT_INVALID_HANDLE_EVD_")) {
    return "the EVD for " + after("DAT_INVALID_HANDLE_EVD_") +
           " events is no live EVD of this adapter, or its evd_flags lack that stream";
  }
  if (subtype.starts_with(kHandle)) {
    const std::string which = after(kHandle);
    return "the handle " + (which.starts_with("_") ? "of the " + which.substr(1) : which) +
           " is that of no live object that can be used so: it was freed, never created, or is of another kind or "
           "adapter";
  }
  if (subtype.starts_with(kState)) return "the object's state does not allow it: " + after(kState);
  if (subtype.starts_with("DAT_RESOURCE_")) {
    return base::was_short_of_descriptors(kJustNow) ? base::shortage_text()
                                                    : "there is not enough of: " + after("DAT_RESOURCE_");
  }
  return "";
}

}  // namespace

std::string answer_text(std::uint32_t answer) {
  const Names names = names_of(answer);
  return names.subtype.empty() ? names.type : names.type + ' ' + names.subtype;
}

void tell_refusal(const base::Call& call, std::uint32_t answer) try {
  if (tells_no_mistake(answer)) return;
  const std::string_view signature(call.name());
  const std::string function(word(signature, 0));
  const Names names = names_of(answer);
  std::string line = function;
  if (const std::string place = base::place_text(call.caller()); !place.empty()) line += ", called by " + place + ",";
  line += " answered " + names.type + (names.subtype.empty() ? "" : ", " + names.subtype);
  const std::string reason = call.reason().empty() ? reason_of(names.subtype, signature) : call.reason();
  if (!reason.empty()) line += ": " + reason;
  if (line.back() != '.') line += '.';
  base::say(line + " See " + function + "(3).");
} catch (const std::bad_alloc&) {
}

}  // namespace softdat::api
