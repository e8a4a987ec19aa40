// SPDX-License-Identifier: BSD-2-Clause
// HandleRange: the addresses at which a provider's handles lie. A provider shows it to the registry, which then needs
// no call to see whether an address is one of them. It is part of the binary interface between the two
// (docs/REGISTRY.md): the members and their order must not change.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace softdat::base {

// Handles are the addresses begin + n * step. The first word of each stays readable for the life of the process.
// The provider alone writes: `begin` once, then `size` with release; `size` only grows. Any thread reads.
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
