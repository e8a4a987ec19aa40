// SPDX-License-Identifier: BSD-2-Clause
// Why a call is refused, for people. Costs a look at a thread's variable, and the words only while they are wanted.
#pragma once

#include <cstdint>
#include <new>
#include <string>

#include "base/call.h"
#include "libdat/object/status.h"

namespace softdat::object {

// Answers `status`; `reason` makes the clause, and is called only if somebody reads it. Out of memory, there is no
// clause.
template <typename Reason>
[[gnu::cold, gnu::noinline]] Status because(Status status, Reason reason) try {
  if (base::Call* const call = base::current_call()) call->refuse(reason());
  return status;
} catch (const std::bad_alloc&) {
  return status;
}

// "1 event", "3 events".
inline std::string count_text(std::int64_t count, const char* what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

}  // namespace softdat::object
