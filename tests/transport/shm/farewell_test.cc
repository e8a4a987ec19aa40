// SPDX-License-Identifier: BSD-2-Clause
// A carrier that goes while its ring is full.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/transport/conformance/peer.h"
#include "tests/transport/conformance/tcp_world.h"
#include "transport/reactor.h"
#include "transport/shm/segment.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::transport::shm {
namespace {

using conformance::Peer;
using conformance::PeerPort;

class FarewellTest : public testing::Test {
 protected:
  static constexpr std::size_t kPeers = 600;

  void SetUp() override {
    port_.handler = [this](std::unique_ptr<InboundRequest> request) {
      served_.push_back(std::make_unique<Peer>());
      EXPECT_TRUE(served_.back()->accept(*request));
    };
    client_.emplace(*client_reactor_,
                    ShmOptions{.address = {.ipv4 = own_loopback_address(2)}, .ring_bytes = kSmallestRing});
    for (std::size_t i = 0; i < kPeers; ++i) {
      peers_.push_back(std::make_unique<Peer>());
      peers_.back()->connect(*client_, {.ipv4 = own_loopback_address(1)}, 5);
      ASSERT_TRUE(reach([&] { return peers_.back()->is_established; }));
    }
    ASSERT_TRUE(reach([&] { return served_.size() == kPeers && served_.back()->is_established; }));
  }

  bool reach(const std::function<bool()>& is_done) {
    const base::Time deadline = base::Clock::now() + std::chrono::seconds(20);
    while (!is_done()) {
      const base::Time now = base::Clock::now();
      server_.turn(now);
      if (client_) client_->turn(now);
      if (now > deadline) return false;
    }
    return true;
  }
  // From now on the server does not look, and the ring to it is full.
  void fill_the_ring() {
    while (peers_.front()->is_drained()) peers_.front()->queue_send(std::string(1000, 'x'));
  }
  void leave() {
    peers_.clear();
    client_.reset();
  }

  std::unique_ptr<Reactor> reactor_ = Reactor::create();
  std::unique_ptr<Reactor> client_reactor_ = Reactor::create();
  ShmCarrier server_{*reactor_, {.address = {.ipv4 = own_loopback_address(1)}, .ring_bytes = kSmallestRing}};
  PeerPort port_{server_, 5, 1024};
  std::optional<ShmCarrier> client_;
  std::vector<std::unique_ptr<Peer>> served_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

TEST_F(FarewellTest, LastWordsThatFoundNoRoomAreHeardAfterEverythingElse) {
  fill_the_ring();
  leave();
  ASSERT_TRUE(reach([&] { return !served_.front()->closings.empty() && !served_.back()->closings.empty(); }));
  EXPECT_FALSE(served_.front()->messages.empty());
  for (const auto& peer : served_) {
    ASSERT_EQ(peer->closings.size(), 1u);
    EXPECT_EQ(peer->closings.front(), CloseReason::kBye);
  }
}

TEST_F(FarewellTest, ATerminationIsHeardWithItsCode) {
  fill_the_ring();
  constexpr TerminateCode kCode{.layer = 1, .type = 2, .code = 3};
  peers_.back()->channel->terminate(kCode);
  leave();
  ASSERT_TRUE(reach([&] { return !served_.back()->closings.empty(); }));
  EXPECT_EQ(served_.back()->closings.front(), CloseReason::kTerminated);
  EXPECT_EQ(served_.back()->terminate_code.code, 3);
}

}  // namespace
}  // namespace softdat::transport::shm
