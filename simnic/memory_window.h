// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <utility>

#include "hca/device.h"
#include "simnic/quota.h"
#include "simnic/window_state.h"

namespace softdat::simnic {

class Engine;
class MemoryTable;

// Its destructor takes the baton, as MemoryRegion's does and for the same reason.
class MemoryWindow final : public hca::MemoryWindow {
 public:
  // Throws std::bad_alloc.
  MemoryWindow(Engine& engine, MemoryTable& table, std::uint32_t domain, hca::WindowScope scope, std::uint64_t context);
  ~MemoryWindow() override;

  hca::WindowBinding binding() const override;
  WindowState& state() { return state_; }
  void set_share(Share share) { share_ = std::move(share); }

 private:
  Engine& engine_;
  MemoryTable& table_;
  WindowState& state_;
  Share share_;  // set by the maker
};

}  // namespace softdat::simnic
