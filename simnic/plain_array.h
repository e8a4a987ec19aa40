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

// The bytes are not set: each T is written before it is read. Throws std::bad_alloc.
template <typename T>
PlainArray<T> make_plain_array(std::size_t size) {
  static_assert(std::is_trivially_destructible_v<T>);
  void* const memory = size <= ~std::size_t{0} / sizeof(T) ? std::malloc(size * sizeof(T)) : nullptr;
  if (memory == nullptr) throw std::bad_alloc();
  return PlainArray<T>(static_cast<T*>(memory));
}

}  // namespace softdat::simnic
