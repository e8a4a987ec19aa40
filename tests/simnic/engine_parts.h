// SPDX-License-Identifier: BSD-2-Clause
// Parts for tests of an engine without peers.
#pragma once

#include <atomic>
#include <memory>

#include "base/timers.h"
#include "transport/carrier.h"

namespace softdat::simnic::testing {

// Base of carriers that only count what is asked of them: it listens nowhere and reaches nobody.
class PeerlessCarrier : public transport::Carrier {
 public:
  transport::ListenResult listen(std::uint64_t, std::uint32_t, transport::PortSink&) final { return {}; }
  std::unique_ptr<transport::Channel> connect(const transport::Address&, const transport::Offer&,
                                              transport::ChannelSink&) final {
    return nullptr;
  }
};

class CountingTimer final : public base::Timer {
 public:
  void on_timer() override { runs.fetch_add(1); }
  std::atomic<int> runs{0};
};

}  // namespace softdat::simnic::testing
