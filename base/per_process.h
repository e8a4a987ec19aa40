// SPDX-License-Identifier: BSD-2-Clause
// PerProcess<T, place>: a guarded T of this process. A child made by fork() gets a T of its own with a free lock,
// because a thread of its parent may hold the parent's. What a process has made is never destroyed: threads may use it
// while the process ends.
#pragma once

#include <atomic>
#include <memory>

#include "base/guarded.h"

namespace softdat::base {

template <typename T, const LockPlace& kPlace>
class PerProcess {
 public:
  constexpr PerProcess() = default;
  PerProcess(const PerProcess&) = delete;
  PerProcess& operator=(const PerProcess&) = delete;

  // Any thread. `process`: a number that each fork() changes. Throws std::bad_alloc.
  [[nodiscard]] typename Guarded<T, kPlace>::Access lock(unsigned process) { return of(process).lock(); }

 private:
  struct Own {
    Own(unsigned number, const Own* before) : process(number), parents(before) {}
    const unsigned process;
    const Own* const parents;  // so that leak detectors still find it
    Guarded<T, kPlace> guarded{};
  };

  Guarded<T, kPlace>& of(unsigned process) {
    Own* own = own_.load(std::memory_order_acquire);
    while (own == nullptr || own->process != process) {
      auto fresh = std::make_unique<Own>(process, own);
      if (own_.compare_exchange_strong(own, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire))
        own = fresh.release();
    }
    return own->guarded;
  }

  std::atomic<Own*> own_{nullptr};
};

}  // namespace softdat::base
