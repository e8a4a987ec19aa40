// SPDX-License-Identifier: BSD-2-Clause
// Whether memory on the calling thread's stack belongs to a function that has returned. Slow, but for memory elsewhere.
#pragma once

#include <cstdint>

namespace softdat::sanitize {

// The invocation of a function that owns a piece of a stack.
struct FrameOwner {
  const void* thread = nullptr;  // null: the memory is on no stack of the thread that asked
  std::uintptr_t frame = 0;      // where its frame ends; 0: on its stack, but below all functions that are running
  std::uintptr_t function = 0;
};

FrameOwner find_owner(std::uint64_t address);

// Whether that invocation is known to have ended. False when another thread asks.
bool has_returned(const FrameOwner& owner);

}  // namespace softdat::sanitize
