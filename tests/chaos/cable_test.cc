// SPDX-License-Identifier: BSD-2-Clause
// The cable between two hosts is pulled: each connection ends once, within SOFTDAT_TCP_TIMEOUT, with everything that
// was posted given back; and a host whose program has only been stopped is not taken for dead.
#include "tests/chaos/cable.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>

#include "tests/robustness/survivor.h"

namespace softdat::conformance {
namespace {

constexpr const char* kSeconds = "2";

class PulledCable : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may make network namespaces";
    cable_ = std::make_unique<chaos::Cable>();
    if (!cable_->is_there()) GTEST_SKIP() << "no network namespaces here (ip and veth are needed)";
    ::setenv("SOFTDAT_TRANSPORT", "tcp", 1);
    ::setenv("SOFTDAT_TCP_TIMEOUT", kSeconds, 1);
    cable_->go_far();
    ::setenv("SOFTDAT_ADDRESS", chaos::kFarAddress, 1);
    remote_ = std::make_unique<RemotePeer>();
    cable_->go_near();
    ::setenv("SOFTDAT_ADDRESS", chaos::kNearAddress, 1);
    local_ = std::make_unique<Peer>(kServerName);
  }
  void TearDown() override {
    local_.reset();
    remote_.reset();
    cable_.reset();
  }
  // From now until the end is heard.
  void expect_end() {
    const auto begin = std::chrono::steady_clock::now();
    expect_one_end(*local_, DAT_CONNECTION_EVENT_BROKEN);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("heard after %.1f s, of %s promised\n", took.count(), kSeconds);
    expect_all_completed(*local_);
  }

  std::unique_ptr<chaos::Cable> cable_;
  std::unique_ptr<RemotePeer> remote_;
  std::unique_ptr<Peer> local_;
};

TEST_F(PulledCable, IsHeardWithASendInFlight) {
  remote_->connect(*local_);
  cable_->pull();
  ASSERT_THAT(local_->post_send(0, 64, 1), succeeds());
  expect_end();
}

TEST_F(PulledCable, IsHeardWithMuchInFlight) {
  remote_->connect(*local_);
  const DAT_RMR_TRIPLET target = remote_->memory(0, 4096);
  cable_->pull();
  for (int i = 0; i < 16; ++i) ASSERT_THAT(local_->post_write(0, 4096, target, 1), succeeds());
  expect_end();
}

TEST_F(PulledCable, IsHeardWithNothingInFlight) {
  remote_->connect(*local_);
  ASSERT_THAT(local_->post_recv(0, 64, 1), succeeds());
  cable_->pull();
  expect_end();
}

TEST_F(PulledCable, EndsAGracefulDisconnect) {
  remote_->connect(*local_);
  cable_->pull();
  ASSERT_THAT(local_->post_send(0, 64, 1), succeeds());
  ASSERT_THAT(dat_ep_disconnect(local_->ep, DAT_CLOSE_GRACEFUL_FLAG), succeeds());
  expect_end();
}

TEST_F(PulledCable, EndsAnAttemptToConnect) {
  cable_->pull();
  ASSERT_THAT(remote_->request(*local_), succeeds());
  EXPECT_EQ(next_event(local_->connect_evd).event_number, DAT_CONNECTION_EVENT_UNREACHABLE);
}

TEST_F(PulledCable, PluggedInAgainInTimeIsNotHeard) {
  remote_->connect(*local_);
  const DAT_RMR_TRIPLET target = remote_->memory(0, 4096);
  cable_->pull();
  ASSERT_THAT(local_->post_write(0, 4096, target, 1), succeeds());
  cable_->plug();
  EXPECT_EQ(next_completion(local_->request_evd).status, DAT_DTO_SUCCESS);
}

TEST_F(PulledCable, IsNotWhatAStoppedProgramIs) {
  remote_->connect(*local_);
  const DAT_RMR_TRIPLET target = remote_->memory(0, 65536);
  remote_->process().stop();
  std::uint64_t posted = 0;
  while (posted < 48 && local_->post_write(0, 65536, target, posted) == DAT_SUCCESS) ++posted;
  DAT_EVENT event{};
  DAT_COUNT more = 0;
  EXPECT_THAT(dat_evd_wait(local_->connect_evd, 5'000'000, 1, &event, &more), fails_with(DAT_TIMEOUT_EXPIRED));
  remote_->process().resume();
  for (std::uint64_t cookie = 0; cookie < posted; ++cookie) {
    const auto completion = next_completion(local_->request_evd);
    EXPECT_EQ(completion.status, DAT_DTO_SUCCESS);
    EXPECT_EQ(completion.user_cookie.as_64, cookie);
  }
}

}  // namespace
}  // namespace softdat::conformance
