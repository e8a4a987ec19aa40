// SPDX-License-Identifier: BSD-2-Clause
// Guarded<T, place>: a value together with its mutex, which has a place in the order of locks. The value can only be
// reached while the mutex is held.
#pragma once

#include <mutex>
#include <utility>

#include "base/lock_order.h"

namespace softdat::base {

template <typename T, const LockPlace& kPlace>
class Guarded {
 public:
  // Holds the mutex while it lives. Must be a local variable.
  class Access {
   public:
    T* operator->() const { return value_; }
    T& operator*() const { return *value_; }

   private:
    friend class Guarded;
    Access(Mutex<kPlace>& mutex, T& value) : lock_(mutex), value_(&value) {}
    std::unique_lock<Mutex<kPlace>> lock_;
    T* value_;
  };

  template <typename... Arguments>
  explicit Guarded(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

  [[nodiscard]] Access lock() { return Access(mutex_, value_); }

 private:
  Mutex<kPlace> mutex_;
  T value_;
};

}  // namespace softdat::base
