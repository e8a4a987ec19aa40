// SPDX-License-Identifier: BSD-2-Clause
// Taking events in tests: always with a deadline, never with a fixed sleep.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "tests/conformance/api_version.h"

namespace softdat::conformance {

// How long a test waits for what must come; only a broken library ever lets it pass.
inline constexpr DAT_TIMEOUT kPatience = 240'000'000;  // us

// How long a call that must time out is given.
inline constexpr DAT_TIMEOUT kShortWait = 20'000;  // us

inline constexpr DAT_TIMEOUT kForever = 0xffffffffu;

// The dispatcher's next event; throws SetupFailure when none comes.
DAT_EVENT next_event(DAT_EVD_HANDLE evd);

// The same, and it must have this number.
DAT_EVENT next_event(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER expected);

// The next event's completion data; throws SetupFailure when the event is no DTO completion.
DAT_DTO_COMPLETION_EVENT_DATA next_completion(DAT_EVD_HANDLE evd);

// Takes an event without waiting.
std::optional<DAT_EVENT> take_event(DAT_EVD_HANDLE evd);

// Takes everything that is queued now and says how many events that were.
int drain(DAT_EVD_HANDLE evd);

// True when nothing is queued. Takes nothing unless it answers false.
bool is_quiet(DAT_EVD_HANDLE evd);

// Asks again and again until the answer is yes; false when kPatience has passed.
bool eventually(const std::function<bool()>& condition);

// True once the thread is asleep in the kernel.
bool await_asleep(pid_t thread);

DAT_EVENT make_software_event(std::uintptr_t value);
void post_software_event(DAT_EVD_HANDLE evd, std::uintptr_t value);
std::uintptr_t software_value(const DAT_EVENT& event);

inline DAT_DTO_COOKIE make_cookie(std::uint64_t value) {
  DAT_DTO_COOKIE cookie{};
  cookie.as_64 = value;
  return cookie;
}

}  // namespace softdat::conformance
