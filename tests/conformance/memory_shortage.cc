// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/memory_shortage.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace softdat::conformance {
namespace {

struct Ration {
  bool is_short = false;
  bool was_felt = false;
  int left = 0;
};
thread_local Ration ration;

std::atomic<bool> is_general{false};
std::atomic<bool> was_felt_generally{false};
std::atomic<int> left_for_all{0};
std::atomic<int> failures_for_all{0};

bool is_refused() {
  if (is_general.load()) {
    const int left = left_for_all.fetch_sub(1);
    if (left <= 0 && -left < failures_for_all.load()) {
      was_felt_generally.store(true);
      return true;
    }
  }
  if (!ration.is_short || ration.left-- > 0) return false;
  ration.was_felt = true;
  return true;
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (is_refused()) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size == 0 ? 1 : size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

MemoryShortage::MemoryShortage(int count) {
  ration = {.is_short = true, .left = count};
}

MemoryShortage::~MemoryShortage() {
  ration = {};
}

bool MemoryShortage::was_felt() const {
  return ration.was_felt;
}

GeneralShortage::GeneralShortage(int count, int failures) : count_(count) {
  left_for_all.store(count);
  failures_for_all.store(failures);
  was_felt_generally.store(false);
  is_general.store(true);
}

GeneralShortage::~GeneralShortage() {
  is_general.store(false);
}

bool GeneralShortage::was_felt() const {
  return was_felt_generally.load();
}

int GeneralShortage::asked() const {
  return count_ - left_for_all.load();
}

}  // namespace softdat::conformance

// Found by the dynamic linker before the ones of the C++ library.
void* operator new(std::size_t size) {
  return softdat::conformance::allocate_or_throw(size, 0);
}
void* operator new[](std::size_t size) {
  return softdat::conformance::allocate_or_throw(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return softdat::conformance::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return softdat::conformance::allocate_or_throw(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return softdat::conformance::allocate(size, 0);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return softdat::conformance::allocate(size, 0);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
