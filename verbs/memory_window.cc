// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/memory_window.h"

#include <cerrno>
#include <utility>

#include "base/assert.h"
#include "base/uncancelled.h"
#include "verbs/status.h"

namespace softdat::verbs {

void WindowState::set_first_key(std::uint32_t rkey) {
  const std::lock_guard lock(mutex_);
  number_ = rkey >> kVariantBits;
}

hca::WindowBinding WindowState::binding() const {
  const std::lock_guard lock(mutex_);
  return binding_;
}

// The region of a bind that failed, or whose window has gone, is released; so is that of the bind before.
void WindowState::on_done(const hca::WindowBinding& next, bool is_bound) {
  const std::lock_guard lock(mutex_);
  if (!is_bound || is_gone_) {
    if (next.rkey != 0) table_.release(next.lkey);
    return;
  }
  const hca::WindowBinding before = std::exchange(binding_, next);
  voided_ = 0;
  if (before.rkey != 0) table_.release(before.lkey);
  if (next.rkey != 0 && next.rkey == voided_early_) void_locked();
}

// The completion queues of sends and receives are read apart, so this may be known before the bind is.
void WindowState::on_voided(std::uint32_t rkey) {
  const std::lock_guard lock(mutex_);
  if (binding_.rkey == rkey) {
    void_locked();
  } else if (rkey >> kVariantBits == number_) {
    voided_early_ = rkey;
  }
}

void WindowState::void_locked() {
  base::require_lock(locks::kWindowState);
  table_.release(binding_.lkey);
  voided_ = binding_.rkey;
  voided_early_ = 0;
  binding_ = {};
}

bool WindowState::was_voided(std::uint32_t rkey) const {
  const std::lock_guard lock(mutex_);
  return rkey != 0 && voided_ == rkey;
}

// Binds that are still under way release their regions in on_done().
void WindowState::leave() {
  const std::lock_guard lock(mutex_);
  base::check(!is_gone_, "a window leaves once", binding_.rkey);
  is_gone_ = true;
  if (binding_.rkey != 0) table_.release(binding_.lkey);
  binding_ = {};
}

hca::Result<std::unique_ptr<hca::MemoryWindow>> MemoryWindow::create(MemoryTable& table, ibv_pd* pd,
                                                                     std::uint32_t domain, hca::WindowScope scope,
                                                                     std::uint64_t context) {
  auto state = std::make_shared<WindowState>(table, context);
  // Type 1 is for every queue pair of its domain, type 2 for the one that binds it (ibv_alloc_mw(3)).
  const bool is_narrow = scope != hca::WindowScope::kDomain;
  std::unique_ptr<MemoryWindow> self(new MemoryWindow(domain, is_narrow, state));
  self->mw_ = ibv_alloc_mw(pd, is_narrow ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
  if (self->mw_ == nullptr) return hca::fail(error_of(errno));
  state->set_first_key(self->mw_->rkey);
  table.add_window(std::move(state));
  return std::unique_ptr<hca::MemoryWindow>(std::move(self));
}

hca::Outcome MemoryWindow::renew() {
  base::require_lock(locks::kMemoryWindow);
  ibv_mw* const fresh = ibv_alloc_mw(mw_->pd, mw_->type);
  if (fresh == nullptr) return hca::fail(error_of(errno));
  ibv_dealloc_mw(std::exchange(mw_, fresh));
  state_->set_first_key(fresh->rkey);
  posted_key = 0;
  return hca::Done{};
}

MemoryWindow::~MemoryWindow() {
  if (mw_ == nullptr) return;
  const base::Uncancelled guard;
  ibv_dealloc_mw(mw_);
  state_->leave();
}

}  // namespace softdat::verbs
