// SPDX-License-Identifier: BSD-2-Clause
// PlainArray: an array whose memory is not touched before it is used. So a large one costs only the pages that are
// used.
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
using PlainArray = std::unique_ptr<T[], FreeMemory>;

// With room for `tail` objects of type U behind the last T: two arrays for one call of malloc. The bytes are not set:
// each object is written before it is read. REQUIRES: the sizes do not overflow. Throws std::bad_alloc.
template <typename T, typename U>
PlainArray<T> make_plain_array(std::size_t size, std::size_t tail) {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_destructible_v<U>);
  static_assert(alignof(U) <= alignof(T) && alignof(T) <= alignof(std::max_align_t));
  void* const memory = std::malloc(size * sizeof(T) + tail * sizeof(U));
  if (memory == nullptr) throw std::bad_alloc();
  return PlainArray<T>(static_cast<T*>(memory));
}

}  // namespace softdat::simnic
