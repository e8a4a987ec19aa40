// SPDX-License-Identifier: BSD-2-Clause
// Guarded<T>: a value together with its mutex. The value can only be reached while the mutex is held.
#pragma once

#include <mutex>
#include <utility>

namespace softdat::base {

template <typename T>
class Guarded {
 public:
  // Holds the mutex while it lives. Must be a local variable.
  class Access {
   public:
    T* operator->() const { return value_; }
    T& operator*() const { return *value_; }

   private:
    friend class Guarded;
    Access(std::mutex& mutex, T& value) : lock_(mutex), value_(&value) {}
    std::unique_lock<std::mutex> lock_;
    T* value_;
  };

  template <typename... Arguments>
  explicit Guarded(Arguments&&... arguments) : value_(std::forward<Arguments>(arguments)...) {}

  [[nodiscard]] Access lock() { return Access(mutex_, value_); }

 private:
  std::mutex mutex_;
  T value_;
};

}  // namespace softdat::base
