// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "hca/device.h"

namespace softdat::simnic {

// What a window and the binds posted to it share. Counted by hand, because posted binds stand in a
// ring of plain values: one for the window object, one for each bind from its posting to its end.
class WindowState {
 public:
  WindowState(std::uint32_t domain, hca::WindowScope scope, std::uint64_t context)
      : domain_(domain), scope_(scope), context_(context) {}

  std::uint32_t domain() const { return domain_; }
  hca::WindowScope scope() const { return scope_; }
  std::uint64_t context() const { return context_; }

  // Any thread. The last release() is the state's end.
  void retain() { users_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (users_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // The key that is open, 0: none. Changed with the baton; read by anyone.
  std::uint32_t key() const { return key_.load(std::memory_order_acquire); }
  void set_key(std::uint32_t key) { key_.store(key, std::memory_order_release); }

  // With the baton: the window object has gone, nothing is to be opened any more.
  bool is_gone() const { return is_gone_; }
  void leave() { is_gone_ = true; }

 private:
  ~WindowState() = default;

  // Fixed after construction.
  const std::uint32_t domain_;
  const hca::WindowScope scope_;
  const std::uint64_t context_;
  std::atomic<std::uint32_t> users_{1};
  std::atomic<std::uint32_t> key_{0};
  bool is_gone_ = false;
};

}  // namespace softdat::simnic
