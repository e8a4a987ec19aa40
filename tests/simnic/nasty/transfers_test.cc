// SPDX-License-Identifier: BSD-2-Clause
// Two NICs in nasty mode on a loop network, driven by hand: everything comes, whole and in order, and nothing is held
// for longer than promised.
#include <gtest/gtest.h>

#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

constexpr auto kStep = std::chrono::milliseconds(1);

class NastyTransfers : public ::testing::TestWithParam<std::uint64_t> {
 protected:
  void SetUp() override {
    here_ = make_host(1);
    there_ = make_host(2);
    active_ = std::make_unique<Endpoint>(*here_);
    passive_ = std::make_unique<Endpoint>(*there_);
    from_ = std::make_unique<Memory>(*here_, pattern(4096, 1));
    to_ = std::make_unique<Memory>(*there_, 4096);
    ListenerLog log;
    const auto listener = expect_ok(there_->nic().listen(kService, 4, log));
    expect_ok(active_->connect(*there_));
    pass(10);
    ASSERT_EQ(log.requests.size(), 1u);
    expect_ok(log.requests[0]->accept(passive_->qp(), {}));
    pass(10);
    ASSERT_EQ(active_->events(), "established");
  }
  void TearDown() override {
    active_.reset();
    passive_.reset();
    from_.reset();
    to_.reset();
    here_.reset();
    there_.reset();
  }
  std::unique_ptr<Host> make_host(std::uint32_t address) {
    const NicConfig config{.name = "sim" + std::to_string(address), .drive = Drive::kByHand, .nasty = GetParam()};
    return std::make_unique<Host>(network_, address, config);
  }
  // Lets milliseconds pass, one at a time: both sides turn once in each.
  void pass(int milliseconds) {
    for (int i = 0; i < milliseconds; ++i) {
      now_ += kStep;
      here_->nic().turn(now_);
      there_->nic().turn(now_);
    }
  }

  transport::loop::LoopNetwork network_;
  base::Time now_{std::chrono::hours(1)};
  std::unique_ptr<Host> here_, there_;
  std::unique_ptr<Endpoint> active_, passive_;
  std::unique_ptr<Memory> from_, to_;
};

TEST_P(NastyTransfers, SendsArriveWholeAndInOrder) {
  for (std::uint64_t i = 0; i < 8; ++i) expect_ok(passive_->recv(i, {to_->segment(i * 256, 256)}));
  for (std::uint64_t i = 0; i < 8; ++i) expect_ok(active_->send(i, {from_->segment(i * 256, 100 + i)}));
  pass(200);
  EXPECT_EQ(passive_->recvs(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok 6:ok 7:ok");
  EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok 3:ok 4:ok 5:ok 6:ok 7:ok");
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(to_->part(i * 256, 100 + i), from_->part(i * 256, 100 + i)) << i;
    EXPECT_NE(to_->part(i * 256 + 100 + i, 16), std::vector<std::byte>(16)) << "what is behind message " << i;
  }
}

TEST_P(NastyTransfers, WriteIsWholeWhenTheReceiveBehindItCompletes) {
  expect_ok(passive_->recv(1, {to_->segment(4000, 8)}));
  expect_ok(active_->write(1, {from_->segment(0, 3000)}, *to_));
  expect_ok(active_->send(2, {from_->segment(0, 8)}));
  for (int i = 0; i < 200 && passive_->recv_cq().size() == 0; ++i) pass(1);
  EXPECT_EQ(passive_->recvs(), "1:ok");
  EXPECT_EQ(to_->part(0, 3000), from_->part(0, 3000));
  EXPECT_EQ(to_->part(3000, 1000), std::vector<std::byte>(1000)) << "behind the write nothing changes";
}

// A program changes each word of the write as soon as it sees it. The adapter does not store the old value again.
TEST_P(NastyTransfers, NoWordOfAWriteIsStoredTwice) {
  for (const std::uint32_t length : {8u, 64u, 512u}) {
    const auto source = pattern(length, length);
    const Memory from(*here_, source), to(*there_, length);
    auto* const words = reinterpret_cast<std::uint64_t*>(to.address());
    for (std::uint64_t i = 0; i < 4; ++i) {
      std::memset(words, 0, length);
      std::vector<bool> is_changed(length / 8);
      expect_ok(active_->write(i, {from.all()}, to));
      std::string done;
      for (int turns = 0; turns < 200; ++turns) {
        pass(1);
        for (std::size_t at = 0; at < length / 8; ++at) {
          if (is_changed[at] || words[at] != from.word(at * 8)) continue;
          words[at] = ~std::uint64_t{0};
          is_changed[at] = true;
        }
        done += active_->sends();
      }
      EXPECT_EQ(done, std::to_string(i) + ":ok");
      for (std::size_t at = 0; at < length / 8; ++at) EXPECT_EQ(words[at], ~std::uint64_t{0}) << at;
    }
  }
}

TEST_P(NastyTransfers, ReadIsWholeWhenItCompletes) {
  expect_ok(active_->read(1, {from_->segment(0, 3000)}, *to_));
  for (int i = 0; i < 200 && active_->send_cq().size() == 0; ++i) pass(1);
  EXPECT_EQ(active_->sends(), "1:ok");
  EXPECT_EQ(from_->part(0, 3000), to_->part(0, 3000));
  const auto before = pattern(4096, 1);
  EXPECT_EQ(from_->part(3000, 1096), std::vector<std::byte>(before.begin() + 3000, before.end()));
}

TEST_P(NastyTransfers, DisconnectLosesNothingThatArrived) {
  for (std::uint64_t i = 0; i < 4; ++i) expect_ok(passive_->recv(i, {to_->segment(i * 64, 64)}));
  for (std::uint64_t i = 0; i < 4; ++i) expect_ok(active_->send(i, {from_->segment(i * 64, 64)}));
  expect_ok(active_->qp().disconnect(true));
  pass(200);
  EXPECT_EQ(passive_->recvs(), "0:ok 1:ok 2:ok 3:ok");
  EXPECT_EQ(active_->sends(), "0:ok 1:ok 2:ok 3:ok");
  EXPECT_EQ(active_->events(), "disconnected");
}

INSTANTIATE_TEST_SUITE_P(FirstSeeds, NastyTransfers, ::testing::Range(std::uint64_t{1}, std::uint64_t{9}));

}  // namespace
}  // namespace softdat::simnic::testing
