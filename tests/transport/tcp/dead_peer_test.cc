// SPDX-License-Identifier: BSD-2-Clause
// A peer whose host falls silent is lost within the timeout, whatever is under way; a living peer is not, however long
// it takes nothing. The cable is a filter on the peer's socket that drops every segment before TCP sees it.
#include <gtest/gtest.h>

#include "tests/transport/tcp/raw_peer.h"
#include "transport/tcp/service_port.h"

namespace softdat::transport::tcp {
namespace {

constexpr auto kTimeout = std::chrono::seconds(8);
constexpr auto kLook = kTimeout / 8;

class DeadPeer : public RawTest {
 protected:
  void SetUp() override { start_with(kTimeout); }
  void start_with(base::Duration timeout) {
    port_.reset();
    TcpOptions options;
    options.peer_timeout = timeout;
    start(options);
    port_ = std::make_unique<PeerPort>(*carrier_, kPort, 16);
    ASSERT_TRUE(port_->port);
  }
  void connect() {
    raw_ = std::make_unique<RawPeer>(address_, kPort);
    connect_raw(*raw_, peer_, *port_);
    pass(std::chrono::milliseconds(100));
    ASSERT_TRUE(reach([&] { return peer_.is_established; }));
  }
  // Sends until the peer, which reads nothing, has closed its window.
  void close_window() {
    constexpr std::size_t kBig = 24u << 20;
    peer_.queue({.opcode = Opcode::kSend, .length = kBig}, conformance::make_pattern(kBig));
    settle();
    ASSERT_FALSE(peer_.is_drained());
  }
  // How many looks pass until it holds; more than `most` if it does not.
  int looks_until(const std::function<bool()>& is_done, int most) {
    int looks = 0;
    for (; looks <= most && !is_done(); ++looks) {
      pass(kLook);
      settle();
    }
    return looks;
  }

  // The test's time runs as the kernel's does meanwhile.
  bool lives_through(base::Duration time) {
    const base::Time begin = base::Clock::now();
    for (base::Time last = begin; last < begin + time && peer_.closings.empty();) {
      carrier_->turn(now_);
      reactor_->wait(last + std::chrono::milliseconds(10));
      pass(base::Clock::now() - std::exchange(last, base::Clock::now()));
    }
    return peer_.closings.empty();
  }

  std::unique_ptr<PeerPort> port_;
  std::unique_ptr<RawPeer> raw_;
  Peer peer_;
};

TEST_F(DeadPeer, IsLostWithDataInFlight) {
  connect();
  raw_->cut();
  peer_.queue_send("is anybody there?");
  const int looks = looks_until([&] { return !peer_.closings.empty(); }, 8);
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kLost});
  EXPECT_LE(looks, 8) << "within the timeout";
  EXPECT_GE(looks, 6) << "not before three quarters of it";
}

TEST_F(DeadPeer, IsLostBehindAClosedWindow) {
  connect();
  close_window();
  raw_->cut();
  // The kernel asks a closed window in its own time, so the test's runs no faster than that.
  EXPECT_TRUE(reach([&] {
    pass(std::chrono::milliseconds(1));
    return !peer_.closings.empty();
  }));
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kLost});
}

// Also what TCP_USER_TIMEOUT would do by itself.
TEST_F(DeadPeer, IsALivingOneWhileItAnswersBehindAClosedWindow) {
  start_with(std::chrono::seconds(2));
  connect();
  close_window();
  EXPECT_TRUE(lives_through(std::chrono::seconds(4)));
  ASSERT_TRUE(reach([&] { return peer_.is_drained(); }, raw_.get()));
  EXPECT_TRUE(peer_.closings.empty());
}

TEST_F(DeadPeer, IsALivingOneWhenItComesBackInTime) {
  connect();
  raw_->cut();
  peer_.queue_send("is anybody there?");
  EXPECT_GT(looks_until([&] { return !peer_.closings.empty(); }, 4), 4);
  raw_->mend();
  ASSERT_TRUE(reach([&] { return raw_->received().size() > 0; }, raw_.get()));
  EXPECT_GT(looks_until([&] { return !peer_.closings.empty(); }, 40), 40);
}

TEST_F(DeadPeer, IsNotBlamedForTheTimeInWhichThisProcessDidNotRun) {
  connect();
  raw_->cut();
  peer_.queue_send("is anybody there?");
  for (int i = 0; i < 3; ++i) {
    pass(std::chrono::hours(1));
    settle();
  }
  EXPECT_TRUE(peer_.closings.empty());
}

TEST_F(DeadPeer, EndsAnAttemptToConnect) {
  std::vector<RawPeer> deaf;
  constexpr std::uint64_t kBigId = 0xfedc'ba98'7654'3210;
  for (const std::uint16_t port : ports_of(kBigId)) {
    deaf.push_back(RawPeer::listening(address_, port));
    deaf.back().cut();
  }
  peer_.connect(*carrier_, {.ipv4 = address_}, kBigId);
  EXPECT_LE(looks_until([&] { return !peer_.refusals.empty(); }, 8), 8) << "one port is enough";
  EXPECT_EQ(peer_.refusals, std::vector{Refusal::kUnreachable});
}

TEST_F(DeadPeer, EndsANegotiation) {
  start_with(std::chrono::seconds(2));
  RawPeer silent = RawPeer::listening(address_, kPort + 1);
  peer_.connect(*carrier_, {.ipv4 = address_}, kPort + 1);
  ASSERT_TRUE(reach([&] { return silent.received().size() > 0; }, &silent));
  silent.cut();
  // Keepalive runs in the kernel's time.
  EXPECT_TRUE(reach([&] { return !peer_.refusals.empty(); }));
  EXPECT_EQ(peer_.refusals, std::vector{Refusal::kUnreachable});
}

TEST_F(DeadPeer, EndsAnIdleConnection) {
  start_with(std::chrono::seconds(2));
  connect();
  raw_->cut();
  EXPECT_TRUE(reach([&] { return !peer_.closings.empty(); }));
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kLost});
}

// The kernel tells a failure once: here to the write, and the read behind it finds no more than an end.
TEST_F(DeadPeer, IsNoOrderlyEndWhenAWriteIsTheFirstToKnow) {
  start_with(std::chrono::seconds(2));
  connect();
  settle();
  raw_->cut();
  reactor_->wait(base::Clock::now());  // takes what an earlier turn left to wake it
  reactor_->wait(base::Clock::now() + std::chrono::seconds(30));
  peer_.queue_send("is anybody there?");
  settle();
  EXPECT_EQ(peer_.closings, std::vector{CloseReason::kLost});
}

}  // namespace
}  // namespace softdat::transport::tcp
