// SPDX-License-Identifier: BSD-2-Clause
// Want of memory, to order: operator new of this program, which the provider uses too.
#pragma once

namespace softdat::conformance {

// While it lives, this thread's allocations succeed `count` times and then throw std::bad_alloc. Other threads have
// all the memory they want.
class MemoryShortage {
 public:
  explicit MemoryShortage(int count);
  ~MemoryShortage();
  MemoryShortage(const MemoryShortage&) = delete;
  MemoryShortage& operator=(const MemoryShortage&) = delete;

  // Whether an allocation has failed.
  bool was_felt() const;
};

// The same for all threads together: those of the adapters too. After `failures` of them there is memory again.
class GeneralShortage {
 public:
  explicit GeneralShortage(int count, int failures = kEndless);
  ~GeneralShortage();
  GeneralShortage(const GeneralShortage&) = delete;
  GeneralShortage& operator=(const GeneralShortage&) = delete;

  bool was_felt() const;
  // Allocations asked for so far.
  int asked() const;

 private:
  static constexpr int kEndless = 1'000'000'000;
  const int count_;
};

}  // namespace softdat::conformance
