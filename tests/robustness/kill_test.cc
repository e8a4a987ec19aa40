// SPDX-License-Identifier: BSD-2-Clause
// A peer is killed at a random moment, again and again: the survivor sees one broken connection,
// gets everything that it posted back, connects to the next peer, and nothing is left on the machine.
//
// SOFTDAT_TEST_ROUNDS sets the number of rounds (a handful otherwise), SOFTDAT_TEST_SEED the moments.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "tests/conformance/foreign_memory.h"
#include "tests/robustness/survivor.h"

namespace softdat::conformance {
namespace {

constexpr unsigned kRounds = 25;
constexpr unsigned kSeed = 4711;

const RuntimeDirectory runtime_directory;

class Kill : public testing::Test {
 protected:
  ~Kill() override {
    EXPECT_EQ(leftovers(), before_);
    EXPECT_TRUE(eventually([] { return runtime_directory.has_no_listeners(); }))
        << "the survivor removes the names of the dead";
  }

  // The moment of death: between at once and a little later.
  void pause_randomly() {
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<>(0, 3000)(random_)));
  }

  void expect_one_end(DAT_EVENT_NUMBER expected) { conformance::expect_one_end(survivor_, expected); }
  void expect_all_completed() { conformance::expect_all_completed(survivor_); }

  void start_over() { require(dat_ep_reset(survivor_.ep), "dat_ep_reset"); }

  std::set<std::string> before_ = leftovers();
  std::mt19937 random_{number_from_environment("SOFTDAT_TEST_SEED", kSeed)};
  unsigned rounds_ = number_from_environment("SOFTDAT_TEST_ROUNDS", kRounds);
  Peer survivor_{kClientName};
};

TEST_F(Kill, SleepingPeer) {
  for (unsigned round = 0; round < rounds_; ++round) {
    RemotePeer victim;
    victim.connect(survivor_);
    for (std::uint64_t cookie = 1; cookie <= 5; ++cookie) {
      ASSERT_THAT(survivor_.post_recv(0, 64, cookie), succeeds());
      ASSERT_THAT(survivor_.post_send(0, 64, cookie), succeeds());
    }
    pause_randomly();
    victim.process().kill();
    expect_one_end(DAT_CONNECTION_EVENT_BROKEN);
    for (std::uint64_t cookie = 1; cookie <= 5; ++cookie) {
      const auto received = next_completion(survivor_.recv_evd);
      EXPECT_EQ(received.status, DAT_DTO_ERR_FLUSHED);
      EXPECT_EQ(received.user_cookie.as_64, cookie);
      const auto sent = next_completion(survivor_.request_evd);
      EXPECT_NE(sent.status, DAT_DTO_SUCCESS);
      EXPECT_EQ(sent.user_cookie.as_64, cookie);
    }
    start_over();
  }
}

TEST_F(Kill, PeerInTheMiddleOfTraffic) {
  for (unsigned round = 0; round < rounds_; ++round) {
    RemotePeer victim;
    victim.connect(survivor_);
    victim.tell("storm");
    const DAT_RMR_TRIPLET target = victim.memory(4096, 4096);
    std::thread killer([&] {
      pause_randomly();
      victim.process().kill();
    });
    while (survivor_.state() == DAT_EP_STATE_CONNECTED) {
      static_cast<void>(survivor_.post_recv(0, 512, 1));
      static_cast<void>(survivor_.post_write(1024, 4096, target, 2));
      static_cast<void>(survivor_.post_send(512, 512, 3));
      drain(survivor_.recv_evd);
      drain(survivor_.request_evd);
    }
    killer.join();
    expect_one_end(DAT_CONNECTION_EVENT_BROKEN);
    expect_all_completed();
    start_over();
  }
}

// It dies with its hands in our memory, which is ours again at once.
TEST_F(Kill, PeerThatWritesIntoOurMemory) {
  constexpr std::size_t kLength = 256 * 1024;
  for (unsigned round = 0; round < rounds_; ++round) {
    RemotePeer victim;
    victim.connect(survivor_);
    Memory target(survivor_.adapter.handle(), survivor_.pz, kLength);
    unsigned char* const last = target.data() + kLength - sizeof(std::uint64_t);
    set_foreign_word(last, 0);
    victim.tell("bombard " + std::to_string(reinterpret_cast<std::uintptr_t>(target.data())) + ' ' +
                std::to_string(kLength) + ' ' + std::to_string(target.rmr_context()));
    ASSERT_TRUE(eventually([&] { return foreign_word(last) != 0; }));
    pause_randomly();
    victim.process().kill();
    target.deregister();
    target.fill(0, kLength, 2);
    expect_one_end(DAT_CONNECTION_EVENT_BROKEN);
    EXPECT_TRUE(target.holds(0, kLength, 2));
    start_over();
  }
}

// Before it answered: the request ends in one refusal of some kind.
TEST_F(Kill, PeerDuringConnectionSetUp) {
  for (unsigned round = 0; round < rounds_; ++round) {
    RemotePeer victim;
    ASSERT_THAT(survivor_.post_recv(0, 64, 9), succeeds());
    ASSERT_THAT(victim.request(survivor_), succeeds());
    pause_randomly();
    victim.process().kill();
    DAT_EVENT event = next_event(survivor_.connect_evd);
    if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) event = next_event(survivor_.connect_evd);
    EXPECT_THAT(event.event_number,
                testing::AnyOf(DAT_CONNECTION_EVENT_BROKEN, DAT_CONNECTION_EVENT_NON_PEER_REJECTED,
                               DAT_CONNECTION_EVENT_UNREACHABLE, DAT_CONNECTION_EVENT_DISCONNECTED));
    EXPECT_TRUE(is_quiet(survivor_.connect_evd));
    EXPECT_EQ(next_completion(survivor_.recv_evd).status, DAT_DTO_ERR_FLUSHED);
    start_over();
  }
}

// One of several peers dies; the others do not notice.
TEST_F(Kill, OtherConnectionsGoOn) {
  Peer server(kServerName);
  Peer client(kClientName);
  establish(server, client);
  for (unsigned round = 0; round < rounds_; ++round) {
    RemotePeer victim;
    victim.connect(survivor_);
    victim.tell("storm");
    pause_randomly();
    victim.process().kill();
    expect_conversation(server, client);
    expect_one_end(DAT_CONNECTION_EVENT_BROKEN);
    expect_all_completed();
    start_over();
  }
}

// A listener that dies frees its qualifier: the next one is found on it at once.
TEST_F(Kill, SuccessorServesTheSameAdapter) {
  for (unsigned round = 0; round < rounds_ / 5 + 1; ++round) {
    auto victim = std::make_unique<RemotePeer>();
    victim->connect(survivor_);
    victim->process().kill();
    expect_one_end(DAT_CONNECTION_EVENT_BROKEN);
    start_over();
    RemotePeer successor;
    successor.connect(survivor_);
    ASSERT_THAT(survivor_.post_write(0, 64, successor.memory(0, 64)), succeeds());
    EXPECT_EQ(next_completion(survivor_.request_evd).status, DAT_DTO_SUCCESS);
    successor.process().kill();
    expect_one_end(DAT_CONNECTION_EVENT_BROKEN);
    start_over();
  }
}

}  // namespace
}  // namespace softdat::conformance
