// SPDX-License-Identifier: BSD-2-Clause
// LiveDoor: the socket file at which an adapter hears of `softdat capture PID` (base/capture_control.h). The carrier's
// reactor watches it, so it costs no thread, and no time while no tool asks. Owned by the baton.
#pragma once

#include <memory>
#include <utility>

#include "base/socket_directory.h"
#include "transport/carrier.h"

namespace softdat::simnic::capture {

class LiveDoor final : private transport::ReadinessSink {
 public:
  // Null where there is no socket to be had, or the carrier watches none: the process cannot be captured by way of this
  // adapter. Throws std::bad_alloc.
  static std::unique_ptr<LiveDoor> open(transport::Carrier& carrier);
  ~LiveDoor() = default;

 private:
  explicit LiveDoor(base::Listening listening) : listening_(std::move(listening)) {}
  void on_ready(std::uint32_t readiness) override;

  base::Listening listening_;
  std::unique_ptr<transport::Reactor::Watch> watch_;
};

}  // namespace softdat::simnic::capture
