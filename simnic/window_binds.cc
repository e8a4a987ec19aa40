// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/window_binds.h"

#include "simnic/window_state.h"

namespace softdat::simnic {
namespace {

WindowState& window_of(const SendEntry& bind) {
  return *reinterpret_cast<WindowState*>(static_cast<std::uintptr_t>(bind.remote_address));
}

}  // namespace

bool WindowBinds::carry_out(const SendEntry& bind, std::uint64_t number) {
  // A repetition after a rewind: the bind has been carried out already.
  if (number < end_) return true;
  if (!open(bind)) return false;
  end_ = number + 1;
  return true;
}

bool WindowBinds::open(const SendEntry& bind) {
  WindowState& window = window_of(bind);
  if (window.is_gone()) {
    if (bind.rkey != 0) table_.remove(bind.rkey);
    return true;
  }
  // The new key opens before the old one is removed, so the window is never without one.
  if (bind.rkey != 0 && !table_.open(bind.rkey)) return false;
  if (const std::uint32_t old = window.key()) table_.remove(old, bind.rkey == 0 ? KeyEnd::kUnbound : KeyEnd::kRebound);
  window.set_key(bind.rkey);
  return true;
}

std::uint64_t WindowBinds::finish(const SendEntry& bind, std::uint64_t number, bool is_success) {
  WindowState& window = window_of(bind);
  const std::uint64_t context = window.context();
  const bool is_open = window.key() == bind.rkey;
  // A flushed bind: take back the key that was only reserved, or that was opened for a connection that has ended.
  if (!is_success && bind.rkey != 0 && (number >= end_ || is_open)) {
    table_.remove(bind.rkey);
    if (is_open) window.set_key(0);
  }
  window.release();
  return context;
}

}  // namespace softdat::simnic
