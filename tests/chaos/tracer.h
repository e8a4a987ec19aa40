// SPDX-License-Identifier: BSD-2-Clause
// Runs the session beside this program and lets one of its system calls fail: seccomp hands each call of a list to this
// process (SECCOMP_RET_USER_NOTIF), which lets it go on or answers an error in the kernel's stead.
#pragma once

#include <map>
#include <optional>
#include <span>

namespace softdat::chaos {

// The `turn`-th call (from 1) of that number, made while the session lives, answers `error`.
struct Denial {
  int number = 0;
  int turn = 1;
  int error = 0;
};

struct Outcome {
  bool is_traced = false;       // false: this system does not let calls be denied
  bool was_denied = false;      // the call was made
  int status = 0;               // as waitpid() tells it
  std::map<int, int> counts{};  // how often each call of the list was made
};

// The system calls that the list has.
std::span<const int> traced_calls();
const char* name_of_call(int number);

Outcome run_session(const std::optional<Denial>& denial);

}  // namespace softdat::chaos
