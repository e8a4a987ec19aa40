// SPDX-License-Identifier: BSD-2-Clause
// HandleRange: where a provider's handles lie, as it tells a registry, which then needs no call to see whether an
// address is one of them. Part of the interface between the two (docs/REGISTRY.md): plain words, in this order.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdat::base {

// Written by the provider alone: `begin` once, then `size` (release), which grows. Read by anyone. Handles are the
// addresses begin + n * step; the first word of each can be read for as long as the process lives.
struct HandleRange {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::size_t> size{0};  // bytes
  std::size_t step;                  // a power of two, not smaller than a word

  bool holds(const void* handle) const {
    const std::size_t in_range = size.load(std::memory_order_acquire);
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(handle) - begin.load(std::memory_order_relaxed);
    return offset < in_range && (offset & (step - 1)) == 0;
  }
};

}  // namespace softdat::base
