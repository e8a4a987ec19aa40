// SPDX-License-Identifier: BSD-2-Clause
// The words that a carrier shows to polling threads are quiet when a turn would find nothing, and no more whatever
// comes.
#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <memory>

#include "base/fault_guard.h"
#include "tests/transport/conformance/peer.h"
#include "tests/transport/conformance/tcp_world.h"
#include "transport/reactor.h"
#include "transport/shm/segment.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::transport::shm {
namespace {

using conformance::make_pattern;
using conformance::Peer;
using conformance::PeerPort;

class StillCarrierTest : public testing::Test {
 protected:
  struct Host {
    explicit Host(std::uint32_t number) : address{.ipv4 = own_loopback_address(number)} {}
    const Address address;
    std::unique_ptr<Reactor> reactor = Reactor::create();
    ShmCarrier carrier{*reactor, {.address = address, .ring_bytes = kSmallestRing}};
  };

  void SetUp() override {
    if (!base::install_fault_guard() || !base::has_guarded_instructions())
      GTEST_SKIP() << "this processor has no guarded loads";
    port_.handler = [this](std::unique_ptr<InboundRequest> request) { EXPECT_TRUE(passive_.accept(*request)); };
    active_.connect(client_.carrier, server_.address, 5);
    ASSERT_TRUE(reach([&] { return active_.is_established && passive_.is_established; }));
    ASSERT_TRUE(reach([&] { return is_still(client_) && is_still(server_); }));
  }

  static bool is_still(const Host& host) { return host.carrier.watch_words()->are_quiet(); }

  // Turns both until then.
  bool reach(const std::function<bool()>& is_done) {
    const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
    while (!is_done()) {
      const base::Time now = base::Clock::now();
      if (now > deadline) return false;
      server_.carrier.turn(now);
      client_.carrier.turn(now);
    }
    return true;
  }

  Host server_{1};
  Host client_{2};
  PeerPort port_{server_.carrier, 5, 4};
  Peer active_;
  Peer passive_;
};

TEST_F(StillCarrierTest, UntilARecordComes) {
  for (std::size_t round = 1; round <= 3; ++round) {
    active_.queue_send("news");
    EXPECT_FALSE(is_still(server_));
    server_.carrier.turn(base::Clock::now());
    EXPECT_EQ(passive_.messages.size(), round);
    EXPECT_TRUE(is_still(server_));
  }
}

TEST_F(StillCarrierTest, UntilSomebodyConnects) {
  Host third(3);
  PeerPort port(third.carrier, 6, 4);
  Peer there, here;
  port.handler = [&](std::unique_ptr<InboundRequest> request) { EXPECT_TRUE(there.accept(*request)); };
  here.connect(client_.carrier, third.address, 6);
  EXPECT_FALSE(is_still(client_));
  ASSERT_TRUE(reach([&] {
    third.carrier.turn(base::Clock::now());
    return here.is_established && there.is_established;
  }));
  ASSERT_TRUE(reach([&] { return is_still(client_); }));
}

// As in a program that registers no memory, or that has replaced the handlers since. A polling thread may load a word
// of a link that has just been unmapped.
TEST_F(StillCarrierTest, OnlyWhereALoadOfAnUnmappedWordIsSurvived) {
  for (const int signal : {SIGSEGV, SIGBUS}) ASSERT_NE(::signal(signal, SIG_DFL), SIG_ERR);
  Host third(3);
  PeerPort port(third.carrier, 6, 4);
  Peer there, here;
  port.handler = [&](std::unique_ptr<InboundRequest> request) { EXPECT_TRUE(there.accept(*request)); };
  here.connect(client_.carrier, third.address, 6);
  ASSERT_TRUE(reach([&] {
    third.carrier.turn(base::Clock::now());
    return here.is_established && there.is_established && is_still(client_) && is_still(third);
  }));
  for (const int signal : {SIGSEGV, SIGBUS}) {
    struct sigaction now = {};
    ASSERT_EQ(::sigaction(signal, nullptr, &now), 0);
    EXPECT_NE(now.sa_handler, SIG_DFL);
  }
}

TEST_F(StillCarrierTest, UntilARefusalIsToBeTold) {
  Peer refused;
  refused.connect(client_.carrier, server_.address, 7);
  EXPECT_FALSE(is_still(client_));
  ASSERT_TRUE(reach([&] { return !refused.refusals.empty(); }));
}

TEST_F(StillCarrierTest, UntilAWriterFindsNoRoom) {
  while (active_.is_drained()) active_.queue({.opcode = Opcode::kSend, .length = 16384}, make_pattern(16384));
  EXPECT_FALSE(is_still(client_));
  ASSERT_TRUE(reach([&] { return active_.is_drained() && is_still(client_); }));
}

TEST_F(StillCarrierTest, UntilThePeerIsGone) {
  client_.carrier.parts().links.sever_all();
  ASSERT_TRUE(reach([&] { return !passive_.closings.empty() && !active_.closings.empty(); }));
  EXPECT_FALSE(is_still(server_));  // it has no links
}

}  // namespace
}  // namespace softdat::transport::shm
