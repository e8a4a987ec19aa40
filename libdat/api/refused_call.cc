// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/refused_call.h"

#include <dlfcn.h>

#include <cstdio>
#include <new>
#include <string>
#include <string_view>

#include "base/place.h"
#include "base/words.h"
#include "libdat/api/refusal_reason.h"
#include "libdat/object/status.h"

namespace softdat::api {
namespace {

using object::StatusType;

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

// These answer a poll or a wait, and tell of no mistake.
bool tells_no_mistake(std::uint32_t answer) {
  const auto type = static_cast<StatusType>(answer >> 16 & 0x3fff);
  return type == StatusType::kQueueEmpty || type == StatusType::kTimeoutExpired ||
         type == StatusType::kInterruptedCall || type == StatusType::kAbort || type == StatusType::kNotImplemented;
}

}  // namespace

std::string answer_text(std::uint32_t answer) {
  const Names names = names_of(answer);
  return names.subtype.empty() ? names.type : names.type + ' ' + names.subtype;
}

void tell_refusal(const base::Call& call, std::uint32_t answer, std::span<const CallArgument> arguments,
                  bool is_abi20) try {
  if (tells_no_mistake(answer) && call.reason().empty()) return;
  const std::string_view signature(call.name());
  const std::string function(call.function());
  const Names names = names_of(answer);
  std::string line = function;
  if (const std::string caller = base::by_text("called", call.caller()); !caller.empty()) line += caller + ',';
  line += " answered " + names.type + (names.subtype.empty() ? "" : ", " + names.subtype);
  const std::string reason =
      call.reason().empty() ? reason_of({signature, arguments, names.type, names.subtype, is_abi20}) : call.reason();
  if (!reason.empty()) line += ": " + reason;
  if (line.back() != '.') line += '.';
  const bool is_extension = function.starts_with("dat_ib_");
  base::say(line + " See " + (is_extension ? "dat_ib_extensions" : function) + "(3).");
} catch (const std::bad_alloc&) {
}

}  // namespace softdat::api
