// SPDX-License-Identifier: BSD-2-Clause
// Windows of the device: type 1 where every queue pair of the domain may use the key, type 2 where
// only the one may that it was bound on.
#pragma once

#include <memory>
#include <mutex>

#include "hca/device.h"
#include "verbs/event_thread.h"
#include "verbs/lock_places.h"
#include "verbs/memory_table.h"

namespace softdat::verbs {

// What a window and the binds posted to it share: those may complete after the window has gone. Any thread.
class WindowState {
 public:
  WindowState(MemoryTable& table, std::uint64_t context) : table_(table), context_(context) {}

  // Before the first bind of the device's window. Its keys differ in their lowest bits only (ibv_inc_rkey).
  void set_first_key(std::uint32_t rkey);
  std::uint64_t context() const { return context_; }
  hca::WindowBinding binding() const;

  // While it lives on_done() waits: the device may be quicker than whoever posts a bind.
  [[nodiscard]] std::unique_lock<base::Mutex<locks::kWindowState>> hold() { return std::unique_lock(mutex_); }
  // A bind, for which its region was retained, has been carried out, or not.
  void on_done(const hca::WindowBinding& next, bool is_bound);
  // A peer has voided that key.
  void on_voided(std::uint32_t rkey);
  // Since it was bound last.
  bool was_voided(std::uint32_t rkey) const;
  void leave();

 private:
  static constexpr unsigned kVariantBits = 8;

  void void_locked();

  MemoryTable& table_;
  const std::uint64_t context_;
  mutable base::Mutex<locks::kWindowState> mutex_;
  // Guarded by mutex_.
  std::uint32_t number_ = 0;  // what its keys have in common
  hca::WindowBinding binding_{};
  std::uint32_t voided_ = 0;
  std::uint32_t voided_early_ = 0;  // a key whose bind has not been read yet
  bool is_gone_ = false;
};

class MemoryWindow final : public hca::MemoryWindow {
 public:
  static hca::Result<std::unique_ptr<hca::MemoryWindow>> create(MemoryTable& table, ibv_pd* pd, std::uint32_t domain,
                                                                hca::WindowScope scope, std::uint64_t context);
  ~MemoryWindow() override;

  hca::WindowBinding binding() const override { return state_->binding(); }

  // --- For queue pairs, which post to it under mutex() ---
  ibv_mw* mw() const { return mw_; }
  std::uint32_t domain() const { return domain_; }
  bool is_narrow() const { return is_narrow_; }
  // Under mutex(). Exchanges the device's window for a fresh one, which no queue pair has bound. Errors of
  // ibv_alloc_mw(3); then the window is as before.
  hca::Outcome renew();
  const std::shared_ptr<WindowState>& state() const { return state_; }
  base::Mutex<locks::kMemoryWindow>& mutex() { return mutex_; }
  // Of the last bind posted: its key, 0 for none, and where. Under mutex().
  std::uint32_t posted_key = 0;
  std::uint32_t posted_on = 0;  // the queue pair's number

 private:
  MemoryWindow(std::uint32_t domain, bool is_narrow, std::shared_ptr<WindowState> state)
      : domain_(domain), is_narrow_(is_narrow), state_(std::move(state)) {}

  const std::uint32_t domain_;
  const bool is_narrow_;  // type 2
  const std::shared_ptr<WindowState> state_;
  ibv_mw* mw_ = nullptr;  // changed under mutex_
  base::Mutex<locks::kMemoryWindow> mutex_;
};

}  // namespace softdat::verbs
