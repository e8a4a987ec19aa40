// SPDX-License-Identifier: BSD-2-Clause
// Tells every arena of this process of its forks.
#pragma once

namespace softdat::memory {

class Arena;

// Any thread, but not from within a fork handler.
void follow_forks(Arena& arena);
void ignore_forks(Arena& arena);

// Whether this process is a child of the one in which the answer was last `generation`; counts forks.
unsigned fork_generation();

}  // namespace softdat::memory
