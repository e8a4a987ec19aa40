// SPDX-License-Identifier: BSD-2-Clause
// A peer is killed at a random moment, again and again: the survivor sees one broken connection,
// gets everything that it posted back, connects to the next peer, and nothing is left on the machine.
//
// SOFTDAT_TEST_ROUNDS sets the number of rounds (a handful otherwise), SOFTDAT_TEST_SEED the moments.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/remote_peer.h"

namespace softdat::conformance {
namespace {

constexpr unsigned kRounds = 25;
constexpr unsigned kSeed = 4711;

unsigned number_from_environment(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

// Where the processes of these tests meet, and nobody else's.
class RuntimeDirectory {
 public:
  RuntimeDirectory() {
    char path[] = "/tmp/kill-test-XXXXXX";
    if (::mkdtemp(path) != nullptr) ::setenv("XDG_RUNTIME_DIR", path, 1);
    path_ = path;
  }
  ~RuntimeDirectory() { std::filesystem::remove_all(path_); }
  RuntimeDirectory(const RuntimeDirectory&) = delete;
  RuntimeDirectory& operator=(const RuntimeDirectory&) = delete;

  // No socket file, and not even the directory that held them.
  bool is_empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::string path_;
};
const RuntimeDirectory runtime_directory;

// What other tests put there while these run; no peer here has the like.
bool is_of_other_tests(const std::string& name) {
  if (name.ends_with("/softdat-" + std::to_string(::geteuid()))) return true;
  constexpr const char* kTheirs[] = {"softdat-lmr-", "softdat-wire-", "softdat-stock-"};
  return std::ranges::any_of(kTheirs, [&](const char* begin) { return name.find(begin) != std::string::npos; });
}

// What of ours could be left behind where files outlive processes.
std::set<std::string> leftovers() {
  std::set<std::string> names;
  for (const char* directory : {"/dev/shm", "/tmp"}) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
      const std::string name = entry.path().string();
      if (is_of_other_tests(name)) continue;
      if (name.find("softdat") != std::string::npos || name.find("sim0") != std::string::npos) names.insert(name);
    }
  }
  return names;
}

class Kill : public testing::Test {
 protected:
  ~Kill() override {
    EXPECT_EQ(leftovers(), before_);
    EXPECT_TRUE(eventually([] { return runtime_directory.is_empty(); }))
        << "the survivor removes the names of the dead";
  }

  // The moment of death: between at once and a little later.
  void pause_randomly() {
    std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution<>(0, 3000)(random_)));
  }

  // Counts connection events until the endpoint is disconnected; ESTABLISHED ones aside there must
  // be one.
  void expect_one_end(DAT_EVENT_NUMBER expected) {
    DAT_EVENT event = next_event(survivor_.connect_evd);
    if (event.event_number == DAT_CONNECTION_EVENT_ESTABLISHED) event = next_event(survivor_.connect_evd);
    EXPECT_EQ(event.event_number, expected);
    EXPECT_EQ(survivor_.state(), DAT_EP_STATE_DISCONNECTED);
    EXPECT_TRUE(is_quiet(survivor_.connect_evd));
  }

  void expect_all_completed() {
    DAT_BOOLEAN recv_idle = DAT_FALSE;
    DAT_BOOLEAN request_idle = DAT_FALSE;
    EXPECT_TRUE(eventually([&] {
      drain(survivor_.recv_evd);
      drain(survivor_.request_evd);
      require(dat_ep_get_status(survivor_.ep, nullptr, &recv_idle, &request_idle), "dat_ep_get_status");
      return recv_idle == DAT_TRUE && request_idle == DAT_TRUE;
    }));
  }

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
