// SPDX-License-Identifier: BSD-2-Clause
#include "transport/direct/home.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>
#include <vector>

#include "tests/transport/direct/pages.h"

namespace softdat::transport::direct::testing {
namespace {

constexpr std::uint32_t kKey = 0x100;
constexpr std::uint32_t kRight = 4;
constexpr std::uint32_t kDomain = 3;

// Two homes in one process: ours is used by theirs.
class HomeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ours_ = Home::create();
    if (ours_ == nullptr) GTEST_SKIP() << "no direct access here";
    theirs_ = Home::create();
    ASSERT_NE(ours_->meet(duplicate(theirs_->board_file()), duplicate(theirs_->arena_file()), {}), nullptr);
    us_ = theirs_->meet(duplicate(ours_->board_file()), duplicate(ours_->arena_file()), {});
    ASSERT_NE(us_, nullptr);
    gate_ = *ours_->board().take_gate(kDomain);
    connection_ = ours_->next_connection();
    ours_->board().open_gate(gate_, connection_);
  }
  bool publish(std::uint32_t key = kKey) {
    return ours_->publish(key,
                          {.address = pages_.address(), .length = pages_.size(), .access = kRight, .domain = kDomain},
                          pages_.address());
  }
  void revoke() {
    ours_->withdraw(kKey);
    ours_->await_key(kKey);
  }
  std::byte* find(std::uint64_t address, std::uint64_t length, std::uint32_t rights = kRight) {
    return us_->find({kKey, address, length, rights}, gate_, connection_);
  }
  std::byte* find() { return find(pages_.address(), pages_.size()); }

  Pages pages_{4};
  std::shared_ptr<Home> ours_;
  std::shared_ptr<Home> theirs_;
  std::shared_ptr<Peer> us_;
  std::uint32_t gate_ = 0;
  std::uint64_t connection_ = 0;
};

TEST_F(HomeTest, APeerReachesPublishedMemory) {
  ASSERT_TRUE(publish());
  const Pin pin = theirs_->board().pin(kKey, gate_);
  ASSERT_TRUE(static_cast<bool>(pin));
  std::byte* there = find(pages_.address() + 10, 1);
  ASSERT_NE(there, nullptr);
  *there = std::byte{77};
  EXPECT_EQ(pages_.data()[10], std::byte{77});
}

TEST_F(HomeTest, RangeAndRightsAndDomainAndGateAreChecked) {
  ASSERT_TRUE(publish());
  EXPECT_NE(find(pages_.address(), pages_.size()), nullptr);
  EXPECT_EQ(find(pages_.address() - 1, 1), nullptr);
  EXPECT_EQ(find(pages_.address() + 1, pages_.size()), nullptr);
  EXPECT_EQ(find(pages_.address() + pages_.size(), 1), nullptr);
  EXPECT_EQ(find(~std::uint64_t{0}, 2), nullptr);
  EXPECT_EQ(find(pages_.address(), 1, kRight | 1), nullptr);
  EXPECT_EQ(us_->find({kKey, pages_.address(), 1, kRight}, gate_, connection_ + 1), nullptr);
  EXPECT_EQ(us_->find({kKey + 1, pages_.address(), 1, kRight}, gate_, connection_), nullptr);
  const std::uint32_t other = *ours_->board().take_gate(kDomain + 1);
  ours_->board().open_gate(other, connection_);
  EXPECT_EQ(us_->find({kKey, pages_.address(), 1, kRight}, other, connection_), nullptr);
}

TEST_F(HomeTest, AWithdrawnKeyAndAClosedGateOpenNothing) {
  ASSERT_TRUE(publish());
  ours_->board().close_gate(gate_);
  EXPECT_EQ(find(), nullptr);
  ours_->board().open_gate(gate_, connection_);
  revoke();
  EXPECT_EQ(find(), nullptr);
}

TEST_F(HomeTest, RevokingWaitsForWhoeverHasPinnedTheKey) {
  ASSERT_TRUE(publish());
  std::atomic<bool> is_revoked{false};
  std::thread revoker;
  {
    const Pin held = theirs_->board().pin(kKey, gate_);
    ASSERT_NE(find(), nullptr);
    revoker = std::thread([&] {
      revoke();
      is_revoked.store(true);
    });
    while (find() != nullptr) std::this_thread::yield();
    EXPECT_FALSE(is_revoked.load());
  }
  revoker.join();
  EXPECT_TRUE(is_revoked.load());
}

TEST_F(HomeTest, ClosingAGateWaitsForThoseInIt) {
  {
    const Pin held = theirs_->board().pin(kKey, gate_);
    ours_->board().close_gate(gate_);
    EXPECT_FALSE(ours_->await_gate(gate_, base::Clock::now()));
  }
  EXPECT_TRUE(ours_->await_gate(gate_, base::kNever));
}

TEST_F(HomeTest, RevokingDoesNotWaitForOthersKeys) {
  ASSERT_TRUE(publish());
  const Pin held = theirs_->board().pin(kKey + 0x100, gate_ + 1);
  revoke();
}

TEST_F(HomeTest, ThereAreAsManyPinsAsSlots) {
  std::vector<std::unique_ptr<Pin>> pins;
  for (std::size_t i = 0; i < kPinSlots; ++i) {
    pins.emplace_back(new Pin(theirs_->board().pin(kKey, gate_)));
    EXPECT_TRUE(static_cast<bool>(*pins.back()));
  }
  EXPECT_FALSE(static_cast<bool>(theirs_->board().pin(kKey, gate_)));
  pins.pop_back();
  EXPECT_TRUE(static_cast<bool>(theirs_->board().pin(kKey, gate_)));
}

// The promise of dat_lmr_free: when it has returned nobody stores into the memory.
TEST_F(HomeTest, FreedMemoryIsSafeFromAPeerUnderFire) {
  constexpr int kRounds = 10'000;
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> hits{0};
  std::thread peer([&] {
    while (!is_over.load(std::memory_order_relaxed)) {
      const Pin pin = theirs_->board().pin(kKey, gate_);
      std::byte* there = find();
      if (there == nullptr) continue;
      std::memset(there, 0xff, pages_.size());
      hits.fetch_add(1, std::memory_order_relaxed);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t before = hits.load();
    ASSERT_TRUE(publish());
    if (round % 16 == 0) {
      while (hits.load() == before) std::this_thread::yield();
    }
    revoke();
    std::memset(pages_.data(), 0, pages_.size());
    for (std::size_t i = 0; i < pages_.size(); i += 64) ASSERT_EQ(pages_.data()[i], std::byte{0}) << "round " << round;
  }
  is_over.store(true);
  peer.join();
  EXPECT_GT(hits.load(), 0u);
}

// A peer that is killed with a pin in its hand keeps nobody waiting.
TEST_F(HomeTest, TheDeadHoldNothing) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto home = Home::create();
    if (home == nullptr) ::_exit(1);
    // Its board lies where the parent can map it: under /proc/self/fd of a process that lives.
    const Pin held = home->board().pin(kKey, 0);
    const int file = home->board_file();
    if (::write(ready[1], &file, sizeof file) != sizeof file) ::_exit(2);
    for (;;) ::pause();
  }
  int file = -1;
  ASSERT_EQ(::read(ready[0], &file, sizeof file), static_cast<ssize_t>(sizeof file));
  base::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  base::UniqueFd board(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), file, 0)));
  if (!board) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    GTEST_SKIP() << "no pidfd_getfd here";
  }
  ASSERT_NE(ours_->meet(std::move(board), duplicate(theirs_->arena_file()), std::move(process)), nullptr);
  ASSERT_TRUE(publish());
  std::thread killer([child] { ::kill(child, SIGKILL); });
  revoke();
  killer.join();
  ::waitpid(child, nullptr, 0);
}

TEST_F(HomeTest, FilesOfAnotherKindAreNoPeer) {
  EXPECT_EQ(ours_->meet(duplicate(theirs_->arena_file()), duplicate(theirs_->board_file()), {}), nullptr);
  EXPECT_EQ(ours_->meet(duplicate(0), duplicate(theirs_->arena_file()), {}), nullptr);
}

// A board that lies names nothing outside the arena.
TEST_F(HomeTest, AnOffsetBeyondTheArenaIsRefused) {
  ours_->board().publish(kKey, {.address = 0, .length = ~std::uint64_t{0}, .access = kRight, .domain = kDomain}, 0);
  EXPECT_EQ(find(kArenaBytes, 1), nullptr);
  EXPECT_EQ(find(kWindowBytes - 1, 2), nullptr);
  EXPECT_EQ(find(0, kWindowBytes + 1), nullptr);
  EXPECT_EQ(find(~std::uint64_t{0} - 1, 1), nullptr);
}

}  // namespace
}  // namespace softdat::transport::direct::testing
