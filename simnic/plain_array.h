// SPDX-License-Identifier: BSD-2-Clause
// ZeroedArray: an array that begins with zeroed bytes. The kernel zeroes a large one page by page when it is touched,
// so that it costs only what is used of it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace softdat::simnic {

struct FreeMemory {
  void operator()(void* memory) const { std::free(memory); }
};

// No constructor or destructor of a T runs.
template <typename T>
using ZeroedArray = std::unique_ptr<T[], FreeMemory>;

// Throws std::bad_alloc.
template <typename T>
ZeroedArray<T> make_zeroed_array(std::size_t size) {
  static_assert(std::is_trivially_destructible_v<T>);
  void* const memory = std::calloc(size, sizeof(T));
  if (memory == nullptr) throw std::bad_alloc();
  return ZeroedArray<T>(static_cast<T*>(memory));
}

}  // namespace softdat::simnic
