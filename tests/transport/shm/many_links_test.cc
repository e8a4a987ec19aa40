// SPDX-License-Identifier: BSD-2-Clause
// One carrier and many peers, most of them silent most of the time.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
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

struct Client {
  std::unique_ptr<Reactor> reactor = Reactor::create();
  ShmCarrier carrier{*reactor, {.address = {.ipv4 = own_loopback_address(2)}, .ring_bytes = kSmallestRing}};
  Peer peer;
};

class ManyLinksTest : public testing::Test {
 protected:
  static constexpr std::size_t kClients = 24;

  void SetUp() override {
    port_.handler = [this](std::unique_ptr<InboundRequest> request) {
      served_.push_back(std::make_unique<Peer>());
      EXPECT_TRUE(served_.back()->accept(*request));
    };
    for (std::size_t i = 0; i < kClients; ++i) {
      clients_.push_back(std::make_unique<Client>());
      Client& client = *clients_.back();
      client.peer.connect(client.carrier, {.ipv4 = own_loopback_address(1)}, 5);
    }
    ASSERT_TRUE(reach([&] { return count(&Peer::is_established) == kClients; }));
  }

  std::size_t count(bool Peer::*member) const {
    return static_cast<std::size_t>(
        std::count_if(clients_.begin(), clients_.end(), [&](const auto& client) { return client->peer.*member; }));
  }
  std::size_t count_messages() const {
    std::size_t total = 0;
    for (const auto& peer : served_) total += peer->messages.size();
    return total;
  }
  bool reach(const std::function<bool()>& is_done) {
    const base::Time deadline = base::Clock::now() + std::chrono::seconds(20);
    while (!is_done()) {
      const base::Time now = base::Clock::now();
      server_.turn(now);
      for (const auto& client : clients_) client->carrier.turn(now);
      if (now > deadline) return false;
    }
    return true;
  }
  void idle(int turns) {
    for (; turns > 0; --turns) server_.turn(base::Clock::now());
  }

  std::unique_ptr<Reactor> reactor_ = Reactor::create();
  ShmCarrier server_{*reactor_, {.address = {.ipv4 = own_loopback_address(1)}, .ring_bytes = kSmallestRing}};
  PeerPort port_{server_, 5, 1024};
  std::vector<std::unique_ptr<Peer>> served_;
  std::vector<std::unique_ptr<Client>> clients_;
};

TEST_F(ManyLinksTest, APeerThatWasSilentForLongIsHeardByPollingAlone) {
  for (std::size_t round = 1; round <= 3; ++round) {
    idle(5000);
    for (const auto& client : clients_) client->peer.queue_send("after a long silence");
    ASSERT_TRUE(reach([&] { return count_messages() == round * kClients; }));
  }
}

TEST_F(ManyLinksTest, APeerThatWasSilentForLongEndsASleep) {
  idle(5000);
  for (std::size_t i = 0; i < kClients; ++i) {
    clients_[i]->peer.queue_send("wake up");
    while (count_messages() == i) {
      server_.wait(base::kNever);
      server_.turn(base::Clock::now());
    }
  }
}

TEST_F(ManyLinksTest, TheDeathOfASilentPeerIsHeard) {
  idle(5000);
  clients_[7]->carrier.parts().links.sever_all();
  const auto is_over = [&] {
    return std::count_if(served_.begin(), served_.end(), [](const auto& peer) { return !peer->closings.empty(); }) == 1;
  };
  ASSERT_TRUE(reach(is_over));
}

}  // namespace
}  // namespace softdat::transport::shm
