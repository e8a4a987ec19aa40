// SPDX-License-Identifier: BSD-2-Clause
// Peers are stopped, continued and killed at any moment of traffic, several at a time: each survivor sees one end of
// each connection, gets everything back, and talks to the others meanwhile. Nothing stays behind on the machine.
//
// The moments are numbers of messages, not times. SOFTDAT_TEST_ROUNDS and SOFTDAT_TEST_SEED as in kill_test: in each
// round two peers are killed, after three stops on average.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/robustness/survivor.h"

namespace softdat::conformance {
namespace {

constexpr unsigned kRounds = 6;
constexpr unsigned kSeed = 815;
constexpr std::size_t kVictims = 2;
constexpr std::size_t kPiece = 4096;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// A peer of ours, and the process that it talks to.
struct Conversation {
  Conversation() {
    remote.connect(local);
    remote.tell("storm");
    target = remote.memory(kPiece, kPiece);
  }
  void exchange() {
    static_cast<void>(local.post_recv(0, 512, 1));
    static_cast<void>(local.post_write(1024, kPiece, target, 2));
    static_cast<void>(local.post_send(512, 512, 3));
    heard += drain(local.recv_evd);
    drain(local.request_evd);
  }
  bool is_connected() const { return local.state() == DAT_EP_STATE_CONNECTED; }

  Peer local{kClientName};
  RemotePeer remote;
  DAT_RMR_TRIPLET target{};
  int heard = 0;
};

class Churn : public testing::Test {
 protected:
  // Traffic on all of them until the next moment.
  void exchange_for_a_while() {
    const int moment = std::uniform_int_distribution<>(0, 300)(random_);
    for (int i = 0; i < moment; ++i) {
      for (const auto& conversation : conversations_) conversation->exchange();
    }
  }
  // Stopped, continued or killed, by chance; in the end it is dead.
  void torment(Conversation& victim) {
    for (int acts = std::uniform_int_distribution<>(0, 2)(random_); acts > 0; --acts) {
      stop(victim);
      exchange_for_a_while();
      expect_conversation(server_, client_);
      victim.remote.process().resume();
      exchange_for_a_while();
    }
    if (std::bernoulli_distribution(0.5)(random_)) stop(victim);
    exchange_for_a_while();
    victim.remote.process().kill();
    ++kills_;
  }
  void stop(Conversation& victim) {
    victim.remote.process().stop();
    ++stops_;
  }

  std::set<std::string> before_ = leftovers();
  std::mt19937 random_{number_from_environment("SOFTDAT_TEST_SEED", kSeed)};
  unsigned rounds_ = number_from_environment("SOFTDAT_TEST_ROUNDS", kRounds);
  Peer server_{kServerName};
  Peer client_{kClientName};
  std::vector<std::unique_ptr<Conversation>> conversations_;
  unsigned kills_ = 0;
  unsigned stops_ = 0;
};

TEST_F(Churn, LeavesTheSurvivorsAndTheMachineAsTheyWere) {
  establish(server_, client_);
  expect_conversation(server_, client_);
  std::size_t descriptors = 0;
  for (unsigned round = 0; round < rounds_; ++round) {
    for (std::size_t i = 0; i < kVictims; ++i) conversations_.push_back(std::make_unique<Conversation>());
    while (!conversations_.empty()) {
      torment(*conversations_.back());
      Peer& survivor = conversations_.back()->local;
      expect_one_end(survivor, DAT_CONNECTION_EVENT_BROKEN);
      expect_all_completed(survivor);
      expect_conversation(server_, client_);
      conversations_.pop_back();
    }
    if (round == 0) descriptors = open_descriptors();
    // Those that came from peers are closed by a thread of their own.
    EXPECT_TRUE(eventually([&] { return open_descriptors() <= descriptors; })) << "round " << round;
  }
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
  EXPECT_EQ(leftovers(), before_);
  std::printf("%u peers killed after %u stops, %zu descriptors open as after the first round\n", kills_, stops_,
              open_descriptors());
}

// What it had posted can never leave.
TEST_F(Churn, AnAbruptCloseDoesNotWaitForAStoppedPeer) {
  double shortest = std::numeric_limits<double>::infinity();  // beside other load one close may take longer
  for (unsigned round = 0; round < rounds_ / 2 + 1; ++round) {
    auto local = std::make_unique<Peer>("sim2");  // the only user of its carrier
    RemotePeer remote;
    remote.connect(*local);
    const DAT_RMR_TRIPLET target = remote.memory(0, 65536);
    remote.process().stop();
    while (local->post_write(0, 65536, target, 1) == DAT_SUCCESS) continue;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THAT(dat_ia_close(local->adapter.handle(), DAT_CLOSE_ABRUPT_FLAG), succeeds());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    std::printf("closed after %.1f ms\n", took.count());
    shortest = std::min(shortest, took.count());
    local->adapter.release();
    remote.process().kill();
  }
  EXPECT_LT(shortest, 3000) << "an orderly end would be given 5 s";
}

}  // namespace
}  // namespace softdat::conformance
