// SPDX-License-Identifier: BSD-2-Clause
// Handlers of fork() that call each arena before and after it.
#pragma once

namespace softdat::memory {

class Arena;

// Adds and removes an arena. Any thread, but not within a fork handler.
void follow_forks(Arena& arena);
void ignore_forks(Arena& arena);

// The number of forks between the first process and this one. A number that changed tells an object that it was made by
// the parent. Any thread.
unsigned fork_generation();

}  // namespace softdat::memory
