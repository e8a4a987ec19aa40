// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <functional>
#include <utility>

#include "base/timers.h"

namespace softdat::simnic::fault {

// A timer that calls a function. Owned by the baton.
class Alarm final : public base::Timer {
 public:
  explicit Alarm(std::function<void()> call) : call_(std::move(call)) {}

 private:
  void on_timer() override { call_(); }
  const std::function<void()> call_;
};

}  // namespace softdat::simnic::fault
