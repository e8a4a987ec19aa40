// SPDX-License-Identifier: BSD-2-Clause
// Two processes, and the death of one of them at any moment.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "tests/runtime_directory.h"
#include "tests/transport/conformance/peer.h"
#include "tests/transport/shm/child_process.h"
#include "tests/transport/shm/test_addresses.h"
#include "transport/reactor.h"
#include "transport/shm/rendezvous.h"
#include "transport/shm/shm_carrier.h"

namespace softdat::transport::shm {
namespace {

using conformance::make_pattern;
using conformance::Peer;
using conformance::PeerPort;

std::set<std::string> list(const char* path) {
  std::set<std::string> names;
  DIR* directory = ::opendir(path);
  if (directory == nullptr) return names;
  while (const dirent* entry = ::readdir(directory)) names.insert(entry->d_name);
  ::closedir(directory);
  return names;
}

// What of ours stands in /dev/shm, but for the directories in which the processes of other tests meet.
std::set<std::string> shared_memory() {
  std::set<std::string> names = list("/dev/shm");
  std::erase_if(names, [](const std::string& name) {
    return name.find("softdat") == std::string::npos || name.starts_with("softdat-");
  });
  return names;
}

std::size_t count_lines_with(const char* path, const std::string& text) {
  std::ifstream file(path);
  std::size_t count = 0;
  for (std::string line; std::getline(file, line);) count += line.find(text) != std::string::npos;
  return count;
}

std::size_t count_fds() {
  return list("/proc/self/fd").size();
}

class ShmProcessTest : public testing::Test {
 protected:
  ShmProcessTest()
      : reactor_(Reactor::create()),
        carrier_(std::make_unique<ShmCarrier>(*reactor_, ShmOptions{.address = {.ipv4 = kParentAddress}})) {}

  bool reach(const std::function<bool()>& is_done) {
    const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
    while (!is_done()) {
      if (carrier_->turn(base::Clock::now()) > 0) continue;
      if (base::Clock::now() > deadline) return false;
      std::this_thread::yield();
    }
    return true;
  }

  static Message send_of(std::size_t length) {
    return {.opcode = Opcode::kSend, .length = static_cast<std::uint32_t>(length)};
  }

  const RuntimeDirectory runtime_;
  const std::uint64_t service_ = test_service();
  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<ShmCarrier> carrier_;
};

TEST_F(ShmProcessTest, MessagesGoThereAndBackUnchanged) {
  ChildProcess child({"serve", std::to_string(service_)});
  ASSERT_EQ(child.read_line(), "ready");
  Peer peers[3];
  for (Peer& peer : peers) {
    peer.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
    ASSERT_TRUE(reach([&] { return peer.is_established; }));
  }
  const std::size_t sizes[] = {0, 1, 100, 5000, 70000, 3u << 20};
  for (const std::size_t size : sizes) {
    for (Peer& peer : peers) peer.queue(send_of(size), make_pattern(size, size));
  }
  for (Peer& peer : peers) {
    ASSERT_TRUE(reach([&] { return peer.messages.size() == std::size(sizes); }));
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      EXPECT_TRUE(peer.messages[i].bytes == make_pattern(sizes[i], sizes[i]));
    }
  }
  EXPECT_EQ(child.stop(), 0);
  for (Peer& peer : peers) {
    ASSERT_TRUE(reach([&] { return !peer.closings.empty(); }));
    EXPECT_EQ(peer.closings.size(), 1u);
  }
}

TEST_F(ShmProcessTest, ASleepingProcessIsWokenByEveryMessage) {
  constexpr std::size_t kRounds = 2000;
  ChildProcess child({"sleep", std::to_string(service_), std::to_string(kRounds)});
  ASSERT_EQ(child.read_line(), "ready");
  Peer peer;
  peer.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
  // Both sides sleep whenever there is nothing to do; a lost wake-up would hang this loop.
  const auto sleep_until = [this](const std::function<bool()>& is_done) {
    while (!is_done()) {
      if (carrier_->turn(base::Clock::now()) > 0) continue;
      const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
      carrier_->wait(deadline);
      if (base::Clock::now() >= deadline) return false;
    }
    return true;
  };
  ASSERT_TRUE(sleep_until([&] { return peer.is_established; }));
  for (std::size_t round = 1; round <= kRounds; ++round) {
    const std::size_t size = round % 100 == 0 ? 1u << 20 : round % 50;
    peer.queue(send_of(size), make_pattern(size, round));
    ASSERT_TRUE(sleep_until([&] { return peer.messages.size() == 1; })) << round;
    EXPECT_TRUE(peer.messages[0].bytes == make_pattern(size, round));
    peer.messages.clear();
  }
  EXPECT_EQ(child.stop(), 0);
}

TEST_F(ShmProcessTest, AServiceThatMovedToAnotherProcessIsFoundAgain) {
  Peer first, second, third;
  {
    ChildProcess child({"serve", std::to_string(service_)});
    ASSERT_EQ(child.read_line(), "ready");
    first.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
    ASSERT_TRUE(reach([&] { return first.is_established; }));
    child.kill();
  }
  second.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
  ASSERT_TRUE(reach([&] { return !second.refusals.empty(); }));
  ChildProcess heir({"serve", std::to_string(service_)});
  ASSERT_EQ(heir.read_line(), "ready");
  third.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
  ASSERT_TRUE(reach([&] { return third.is_established; }));
}

// The peer dies with the unanswered request in its ring.
TEST_F(ShmProcessTest, AQuestionThatTheDeadLeftUnansweredGoesToWhoListensNow) {
  for (const bool has_heir : {true, false}) {
    Peer first, second;
    ChildProcess child({"serve", std::to_string(service_)});
    ASSERT_EQ(child.read_line(), "ready");
    first.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
    ASSERT_TRUE(reach([&] { return first.is_established; }));
    ASSERT_EQ(::kill(child.pid(), SIGSTOP), 0);
    ASSERT_EQ(::waitpid(child.pid(), nullptr, WUNTRACED), child.pid());
    second.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
    child.kill();
    std::optional<ChildProcess> heir;
    if (has_heir) {
      heir.emplace(std::vector<std::string>{"serve", std::to_string(service_)});
      ASSERT_EQ(heir->read_line(), "ready");
    }
    ASSERT_TRUE(reach([&] { return second.is_established || !second.refusals.empty(); }));
    EXPECT_EQ(second.is_established, has_heir);
    EXPECT_EQ(second.refusals, has_heir ? std::vector<Refusal>{} : std::vector{Refusal::kNoListener});
  }
}

// What one survivor saw of one peer that was killed.
class Survivor {
 public:
  void accept(InboundRequest& request) {
    peers_.push_back(std::make_unique<Peer>());
    Peer* peer = peers_.back().get();
    peer->after_message = [peer] {
      const Message message = peer->messages.back().message;
      if (message.length < 4096) peer->queue(message, std::move(peer->messages.back().bytes));
      peer->messages.clear();
    };
    peer->accept(request);
  }
  Peer& add() {
    peers_.push_back(std::make_unique<Peer>());
    return *peers_.back();
  }
  const std::vector<std::unique_ptr<Peer>>& peers() const { return peers_; }
  bool is_over() const {
    return std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) {
      return !peer->channel || peer->closings.size() + peer->refusals.size() == 1;
    });
  }

 private:
  std::vector<std::unique_ptr<Peer>> peers_;
};

class ShmDeathTest : public ShmProcessTest {
 protected:
  void turn_some() {
    for (auto left = random_() % 3000; left > 0; --left) carrier_->turn(base::Clock::now());
  }
  // Nothing of ours is left of the dead: neither here nor in the system.
  void expect_nothing_left(std::size_t fds_before) {
    ASSERT_TRUE(reach([&] { return count_fds() == fds_before; })) << count_fds();
    EXPECT_EQ(count_lines_with("/proc/self/maps", "softdat-link"), 0u);
    char service[32];
    std::snprintf(service, sizeof service, "-%llx", static_cast<unsigned long long>(service_));
    EXPECT_EQ(count_lines_with("/proc/net/unix", service), 0u);
    const std::string file = Rendezvous().path({.ipv4 = kChildAddress}, service_);
    EXPECT_TRUE(reach([&] { return ::access(file.c_str(), F_OK) != 0; })) << file;
  }

  std::mt19937 random_{20240607};
};

TEST_F(ShmDeathTest, AListenerHearsOnceOfEachChannelOfAConnectorKilledAtAnyMoment) {
  const auto shm_before = shared_memory();
  const std::size_t fds_before = count_fds();
  std::size_t established = 0;
  for (int round = 0; round < 100; ++round) {
    Survivor survivor;
    {
      PeerPort port(*carrier_, service_, 64);
      port.handler = [&](auto request) { survivor.accept(*request); };
      const std::string manner = round % 4 == 3 ? "churn" : "flood";
      ChildProcess child({manner, std::to_string(service_), "4"});
      ASSERT_EQ(child.read_line(), "ready");
      if (round % 5 != 0) {
        ASSERT_TRUE(reach([&] { return !survivor.peers().empty(); }));
      }
      // Left to chance, a machine whose processors are all taken gets no connection that far.
      if (round % 20 == 2) {
        ASSERT_TRUE(reach([&] { return survivor.peers()[0]->is_established; }));
      }
      turn_some();
      child.kill();
      ASSERT_TRUE(reach([&] { return survivor.is_over(); })) << "round " << round;
    }
    for (const auto& peer : survivor.peers()) {
      established += peer->is_established;
      EXPECT_LE(peer->closings.size(), 1u);
      if (round % 4 != 3 && !peer->closings.empty()) {
        EXPECT_EQ(peer->closings[0], CloseReason::kLost);
      }
    }
  }
  EXPECT_GT(established, 0u);
  expect_nothing_left(fds_before);
  EXPECT_EQ(shared_memory(), shm_before);
}

TEST_F(ShmDeathTest, AConnectorHearsOnceOfEachChannelOfAListenerKilledAtAnyMoment) {
  const std::size_t fds_before = count_fds();
  std::size_t established = 0;
  for (int round = 0; round < 100; ++round) {
    Survivor survivor;
    ChildProcess child({"serve", std::to_string(service_)});
    ASSERT_EQ(child.read_line(), "ready");
    for (int i = 0; i < 4; ++i) {
      Peer& peer = survivor.add();
      peer.after_established = [&peer] {
        for (const std::size_t size : {10u, 100000u, 3000u, 1u << 20}) {
          peer.queue(send_of(size), make_pattern(size));
        }
      };
      peer.after_message = [&peer] {
        peer.queue(peer.messages.back().message, std::move(peer.messages.back().bytes));
        peer.messages.clear();
      };
      peer.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
    }
    if (round % 5 != 0) {
      ASSERT_TRUE(reach([&] { return survivor.peers()[0]->is_established; }));
    }
    turn_some();
    child.kill();
    ASSERT_TRUE(reach([&] { return survivor.is_over(); })) << "round " << round;
    for (const auto& peer : survivor.peers()) {
      established += peer->is_established;
      if (peer->is_established) {
        EXPECT_EQ(peer->closings, std::vector{CloseReason::kLost});
      }
    }
  }
  EXPECT_GT(established, 0u);
  expect_nothing_left(fds_before);
}

// It is still to be removed when the owner of the next name dies; the time that turns are told is ours.
TEST_F(ShmDeathTest, ASleeperWakesToRemoveANameThatCouldNotBeRemovedAtOnce) {
  base::Time now = base::Clock::now();
  for (int round = 0; round < 2; ++round) {
    ChildProcess child({"serve", std::to_string(service_)});
    ASSERT_EQ(child.read_line(), "ready");
    Peer peer;
    peer.connect(*carrier_, {.ipv4 = kChildAddress}, service_);
    const std::string file = Rendezvous().path({.ipv4 = kChildAddress}, service_);
    const auto turn_until = [&](const auto& is_done) {
      const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
      while (!is_done() && base::Clock::now() < deadline) carrier_->turn(now += std::chrono::nanoseconds(1));
      return is_done();
    };
    ASSERT_TRUE(turn_until([&] { return peer.is_established; }));
    child.kill();
    ASSERT_TRUE(turn_until([&] { return !peer.closings.empty(); }));
    const bool is_there = ::access(file.c_str(), F_OK) == 0;
    EXPECT_EQ(is_there, round == 1) << "the first at once, the second too soon after it";
    if (!is_there) continue;
    carrier_->wait(base::Clock::now());  // what the death itself had to wake us for
    carrier_->turn(now);
    const base::Time deadline = base::Clock::now() + std::chrono::seconds(240);
    carrier_->wait(deadline);
    EXPECT_LT(base::Clock::now(), deadline);
    carrier_->turn(now + std::chrono::seconds(1));
    EXPECT_NE(::access(file.c_str(), F_OK), 0);
  }
}

TEST_F(ShmDeathTest, ADeathIsHeardEvenWhileAChildOfTheDeadHoldsItsDescriptors) {
  Survivor survivor;
  PeerPort port(*carrier_, service_, 64);
  port.handler = [&](auto request) { survivor.accept(*request); };
  ChildProcess child({"fork", std::to_string(service_)});
  // The child gets on only while we turn, so its word is read beside us.
  std::thread listener([&] { EXPECT_EQ(child.read_line(), "ready"); });
  EXPECT_TRUE(reach([&] { return !survivor.peers().empty() && survivor.peers()[0]->is_established; }));
  listener.join();
  child.kill();
  ASSERT_TRUE(reach([&] { return survivor.is_over(); }));
  EXPECT_EQ(survivor.peers()[0]->closings, std::vector{CloseReason::kLost});
}

}  // namespace
}  // namespace softdat::transport::shm
