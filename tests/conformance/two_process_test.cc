// SPDX-License-Identifier: BSD-2-Clause
// Two processes: one-sided operations need nothing of the target, bytes land in order, and a peer
// that ends is told as the specification says.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/lacks.h"
#include "tests/conformance/remote_peer.h"
#include "tests/conformance/shared_region.h"

namespace softdat::conformance {
namespace {

PeerOptions with_much_memory() {
  PeerOptions options;
  options.memory = 1 << 20;
  return options;
}

std::string command(const char* verb, std::size_t offset, std::size_t length, std::uint64_t value) {
  std::ostringstream text;
  text << verb << " " << offset << " " << length << " " << value;
  return text.str();
}

class TwoProcesses : public testing::Test {
 protected:
  void SetUp() override {
    if (const Lack lack = lack_of_other_processes(); !lack.empty()) GTEST_SKIP() << lack;
    remote_ = std::make_unique<RemotePeer>();
    remote_->connect(client_);
  }

  void expect_completion(std::uint64_t cookie, std::size_t length) {
    const auto completion = next_completion(client_.request_evd);
    EXPECT_EQ(completion.status, DAT_DTO_SUCCESS);
    EXPECT_EQ(completion.user_cookie.as_64, cookie);
    EXPECT_EQ(completion.transfered_length, length);
  }

  Peer client_{kClientName, with_much_memory()};
  std::unique_ptr<RemotePeer> remote_;
};

TEST_F(TwoProcesses, MessagesGoBothWays) {
  EXPECT_EQ(remote_->ask(command("recv", 0, 4096, 11)), "done");
  client_.memory->fill(0, 1000, 1);
  ASSERT_THAT(client_.post_send(0, 1000, 12), succeeds());
  EXPECT_EQ(remote_->ask("await-recv"), "0 11 1000");
  expect_completion(12, 1000);
  EXPECT_EQ(remote_->ask(command("holds", 0, 1000, 1)), "yes");
  ASSERT_THAT(client_.post_recv(4096, 4096, 13), succeeds());
  EXPECT_EQ(remote_->ask(command("fill", 8192, 2000, 2)), "done");
  EXPECT_EQ(remote_->ask(command("send", 8192, 2000, 14)), "done");
  EXPECT_EQ(next_completion(client_.recv_evd).transfered_length, 2000u);
  EXPECT_TRUE(client_.memory->holds(4096, 2000, 2));
  EXPECT_EQ(remote_->ask("await-request"), "0 14 2000");
}

// The target sleeps in read() from here on; nobody there calls DAT.
TEST_F(TwoProcesses, WriteCompletesWhileTheTargetSleeps) {
  for (const std::size_t size : {1u, 64u, 4096u, 65536u, 1u << 20}) {
    client_.memory->fill(0, size, static_cast<unsigned>(size));
    ASSERT_THAT(client_.post_write(0, size, remote_->memory(0, size), size), succeeds());
    expect_completion(size, size);
    EXPECT_EQ(remote_->ask(command("holds", 0, size, size)), "yes") << size;
  }
}

TEST_F(TwoProcesses, ReadCompletesWhileTheTargetSleeps) {
  for (const std::size_t size : {1u, 64u, 4096u, 65536u, 1u << 20}) {
    EXPECT_EQ(remote_->ask(command("fill", 0, size, size)), "done");
    ASSERT_THAT(client_.post_read(0, size, remote_->memory(0, size), size), succeeds());
    expect_completion(size, size);
    EXPECT_TRUE(client_.memory->holds(0, size, static_cast<unsigned>(size))) << size;
  }
}

TEST_F(TwoProcesses, ViolationIsReportedWhileTheTargetSleeps) {
  if (const Lack lack = lack_of_refusals(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(client_.post_write(0, 64, remote_->memory(1 << 20, 64)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_ERR_REMOTE_ACCESS);
  EXPECT_EQ(next_event(client_.connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
  EXPECT_EQ(remote_->ask("await-connection"), std::to_string(DAT_CONNECTION_EVENT_BROKEN));
}

// Programs poll the last byte of a buffer: when it has come, everything before it has.
TEST_F(TwoProcesses, LastByteLandsLast) {
  for (unsigned round = 1; round <= 12; ++round) {
    for (const std::size_t size : {16u, 100u, 2048u, 2049u, 4096u, 10000u, 65536u, 300001u}) {
      const unsigned seed = round * 10 + static_cast<unsigned>(size % 7);
      client_.memory->fill(0, size, seed);
      remote_->ask(command("fill", 0, size, seed + 1));
      ASSERT_EQ(remote_->ask(command("watch", 0, size, seed)), "watching");
      ASSERT_THAT(client_.post_write(0, size, remote_->memory(0, size), round), succeeds());
      EXPECT_EQ(remote_->read_line(), "yes") << size;
      expect_completion(round, size);
    }
  }
}

// A write lands after the writes before it: a flag may be written behind the data.
TEST_F(TwoProcesses, FlagWrittenBehindTheDataLandsBehindIt) {
  constexpr std::size_t kSize = 200000;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    client_.memory->fill(0, kSize, seed);
    remote_->ask(command("fill", 0, kSize, seed + 1));
    ASSERT_EQ(remote_->ask(command("watch", 0, kSize, seed)), "watching");
    ASSERT_THAT(client_.post_write(0, kSize - 1, remote_->memory(0, kSize - 1), 0, DAT_COMPLETION_SUPPRESS_FLAG),
                succeeds());
    ASSERT_THAT(client_.post_write(kSize - 1, 1, remote_->memory(kSize - 1, 1), seed), succeeds());
    EXPECT_EQ(remote_->read_line(), "yes");
    expect_completion(seed, 1);
  }
}

// Both processes register one memory under one cookie; what goes into it through the one's
// registration is there in the other.
TEST_F(TwoProcesses, SharedMemoryIsRegisteredByBothUnderOneCookie) {
  constexpr std::size_t kSize = 8192;
  const auto number = static_cast<std::uint64_t>(getpid());
  unsigned char* mine = map_shared(number, kSize);
  const SharedRegion region(client_.adapter.handle(), client_.pz, mine, kSize, number);
  const std::string theirs = remote_->ask(command("share", 0, kSize, number));
  shm_unlink(shared_name(number).c_str());
  ASSERT_THAT(region.answer, succeeds());
  std::istringstream words(theirs);
  std::uint64_t address = 0;
  DAT_RMR_CONTEXT context = 0;
  ASSERT_TRUE(words >> address >> context) << theirs;
  client_.memory->fill(0, 100, 4);
  ASSERT_THAT(client_.post_write(0, 100, make_remote(address + 50, 100, context), 1), succeeds());
  expect_completion(1, 100);
  EXPECT_TRUE(are_same_bytes(client_.memory->data(), mine + 50, 100));
  EXPECT_EQ(remote_->ask(command("peek", 50, 0, 0)), std::to_string(mine[50]));
}

TEST_F(TwoProcesses, CookieOfAnotherProcessesMemoryIsTaken) {
  constexpr std::size_t kSize = 4096;
  const auto number = static_cast<std::uint64_t>(getpid());
  unsigned char* mine = map_shared(number, kSize);
  shm_unlink(shared_name(number).c_str());  // so that the other process maps another memory
  const SharedRegion region(client_.adapter.handle(), client_.pz, mine, kSize, number);
  ASSERT_THAT(region.answer, succeeds());
  const std::string theirs = remote_->ask(command("share", 0, kSize, number));
  shm_unlink(shared_name(number).c_str());
  EXPECT_EQ(theirs, "refused " + std::to_string(DAT_INVALID_STATE));
  ASSERT_THAT(dat_lmr_free(region.lmr), succeeds());
  EXPECT_EQ(remote_->ask(command("share", 0, kSize, number)).find("refused"), std::string::npos);
  shm_unlink(shared_name(number).c_str());
}

TEST_F(TwoProcesses, OrderlyEndOfThePeerIsADisconnect) {
  ASSERT_THAT(client_.post_recv(0, 64, 4), succeeds());
  remote_->tell("quit");
  EXPECT_EQ(remote_->process().join(), 0);
  EXPECT_THAT(next_event(client_.connect_evd).event_number,
              testing::AnyOf(DAT_CONNECTION_EVENT_DISCONNECTED, DAT_CONNECTION_EVENT_BROKEN));
  EXPECT_EQ(next_completion(client_.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  EXPECT_TRUE(is_quiet(client_.connect_evd));
}

// A process that just leaves, connections open: one broken connection, everything flushed.
TEST_F(TwoProcesses, PeerThatJustExitsIsOneBrokenConnection) {
  if (const Lack lack = lack_of_waiting_sends(); !lack.empty()) GTEST_SKIP() << lack;
  ASSERT_THAT(client_.post_recv(0, 64, 4), succeeds());
  ASSERT_THAT(client_.post_send(0, 64, 5), succeeds());
  remote_->tell("exit");
  EXPECT_EQ(remote_->process().join(), 0);
  EXPECT_THAT(next_event(client_.connect_evd).event_number,
              testing::AnyOf(DAT_CONNECTION_EVENT_DISCONNECTED, DAT_CONNECTION_EVENT_BROKEN));
  EXPECT_EQ(next_completion(client_.recv_evd).status, DAT_DTO_ERR_FLUSHED);
  EXPECT_NE(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  EXPECT_EQ(client_.state(), DAT_EP_STATE_DISCONNECTED);
  EXPECT_TRUE(is_quiet(client_.connect_evd));
}

}  // namespace
}  // namespace softdat::conformance
