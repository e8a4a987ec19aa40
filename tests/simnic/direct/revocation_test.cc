// SPDX-License-Identifier: BSD-2-Clause
// Memory and connections are taken away from peers that stand still in the middle of a copy: in each test a pin is held
// that its holder does not let go of, as when its process is stopped, writes its core, or has died unheard.
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>
#include <vector>

#include "memory/other_threads.h"
#include "tests/expect_soon.h"
#include "tests/simnic/direct/two_contexts.h"

namespace softdat::simnic::direct::testing {
using namespace memory;
using namespace memory::testing;
namespace {

constexpr std::uint32_t kOtherKey = 0x200;

class Revocation : public TwoContexts {
 protected:
  static constexpr std::size_t kPages = 256;
  static constexpr std::size_t kPiece = kMostPinned;

  void SetUp() override {
    TwoContexts::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(publish(kKey));
    std::memset(pages_.data(), 1, pages_.size());
  }
  bool publish(std::uint32_t key, std::size_t begin = 0, std::size_t end = kPages * kPage) {
    const std::uint64_t address = pages_.address() + begin;
    return ours_->publish(key, {.address = address, .length = end - begin, .access = kRight, .domain = kDomain},
                          address);
  }
  void revoke(std::uint32_t key = kKey) {
    expect_soon("revocation", [&] { ours_->await(ours_->withdraw(key)); });
  }
  // They are in the middle of a copy to `begin`.
  std::unique_ptr<Grip> hold(std::size_t begin, std::size_t length = kPiece, std::uint32_t key = kKey) {
    const Target target{key, pages_.address() + begin, length, kRight};
    return std::make_unique<Grip>(*us_, theirs_->key_directory(), target, 0, length, door_);
  }
  bool is_reachable(std::size_t begin, std::size_t length = 8, std::uint32_t key = kKey) {
    return static_cast<bool>(*hold(begin, length, key));
  }
  bool is_all(int value) const {
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      if (pages_.data()[i] != static_cast<std::byte>(value)) return false;
    }
    return true;
  }
  std::uint64_t place() const {
    return ours_->key_directory().layout().keys[kKey >> kKeyTagBits].offset.load(std::memory_order_relaxed);
  }

  Pages pages_{kPages};
};

TEST_F(Revocation, NeedsNobodysHelp) {
  const auto straggler = hold(0);
  ASSERT_TRUE(*straggler);
  revoke();
  EXPECT_TRUE(is_all(1));
  std::memset(straggler->data(), 0xff, kPiece);
  EXPECT_TRUE(is_all(1));
  EXPECT_TRUE(straggler->was_cut());
  std::memset(pages_.data(), 2, pages_.size());
  EXPECT_TRUE(is_all(2));
}

TEST_F(Revocation, WaitsForACopyThatGoesOn) {
  std::atomic<bool> is_revoked{false};
  auto copying = hold(0);
  std::thread revoker([&] {
    revoke();
    is_revoked.store(true);
  });
  while (is_reachable(kPiece)) std::this_thread::yield();
  std::memset(copying->data(), 5, kPiece);
  const bool was_cut = copying->was_cut();
  copying.reset();
  revoker.join();
  EXPECT_TRUE(is_revoked.load());
  EXPECT_TRUE(was_cut || pages_.data()[0] == std::byte{5});
}

// A thread that sleeps on a semaphore of several processes is known to the kernel by the file's page, which goes.
TEST_F(Revocation, LosesNoSleeper) {
  auto* const semaphore = new (pages_.data() + 128) sem_t();
  ASSERT_EQ(::sem_init(semaphore, 1, 0), 0);
  std::atomic<int> thread{0};
  std::thread sleeper([&] {
    thread.store(static_cast<int>(::syscall(SYS_gettid)));
    ::sem_wait(semaphore);
  });
  while (thread.load() == 0 || !OtherThreads().sleep_in(pages_.address(), pages_.address() + kPage)) {
    std::this_thread::yield();
  }
  const auto straggler = hold(0);
  ASSERT_TRUE(*straggler);
  revoke();
  ::sem_post(semaphore);
  sleeper.join();
}

// The pages come back into use when nobody stands on them any more.
TEST_F(Revocation, RetiredMemoryIsReachedByMessagesAndLaterDirectlyAgain) {
  auto straggler = hold(0);
  revoke();
  EXPECT_FALSE(publish(kKey));
  EXPECT_TRUE(publish(kOtherKey, 2 * kPiece));
  straggler.reset();
  ASSERT_TRUE(publish(kKey));
  EXPECT_TRUE(is_all(1));
  const auto writer = hold(0);
  ASSERT_TRUE(*writer);
  *writer->data() = std::byte{7};
  EXPECT_EQ(pages_.data()[0], std::byte{7});
}

TEST_F(Revocation, TakesNoMoreThanThePiece) {
  ASSERT_TRUE(publish(kOtherKey, kPiece));
  const auto straggler = hold(0);
  revoke();
  EXPECT_TRUE(straggler->was_cut());
  EXPECT_TRUE(is_reachable(kPiece, 8, kOtherKey));
}

// What a peer writes through another key into a page that is taken away does not count, and it knows.
TEST_F(Revocation, OtherKeysOfThePiecesPagesGoByMessages) {
  ASSERT_TRUE(publish(kOtherKey, kPage, 2 * kPage));
  const auto straggler = hold(0);
  const auto other = hold(kPage, 100, kOtherKey);
  ASSERT_TRUE(*other);
  revoke();
  EXPECT_FALSE(is_reachable(kPage, 8, kOtherKey));
  EXPECT_TRUE(other->was_cut());
  revoke(kOtherKey);
}

// Its pin names the same key number, the same QP entry and the same pages, but of somebody else's memory.
TEST_F(Revocation, AThirdPartyIsNoneOfOurConcern) {
  ASSERT_TRUE(publish(kOtherKey));
  const std::uint32_t third = *theirs_->key_directory().add_owner(Arena::of_process()->number() + 1);
  const Pin pin = theirs_->key_directory().pin(pin_word(place(), kPiece, third, door_.index));
  ASSERT_TRUE(static_cast<bool>(pin));
  revoke();
  ours_->key_directory().close_qp_entry(door_.index);
  ours_->await_qp_entry(door_.index, them_);
  ours_->key_directory().open_qp_entry(door_.index, door_.connection);
  EXPECT_TRUE(is_reachable(0, 8, kOtherKey));
}

TEST_F(Revocation, AnotherRegionsPinIsNoneOfOurConcern) {
  ASSERT_TRUE(publish(kOtherKey, 2 * kPiece));
  ours_->await(ours_->withdraw(kKey));
  ASSERT_TRUE(publish(kKey, 0, kPiece));
  const auto busy = hold(2 * kPiece, kPiece, kOtherKey);
  revoke();
  EXPECT_TRUE(*busy);
  EXPECT_FALSE(busy->was_cut());
}

TEST_F(Revocation, ADisconnectTakesThePieceAwayToo) {
  const auto straggler = hold(0);
  ours_->key_directory().close_qp_entry(door_.index);
  expect_soon("disconnect", [&] { ours_->await_qp_entry(door_.index, them_); });
  std::memset(straggler->data(), 0xff, kPiece);
  EXPECT_TRUE(is_all(1));
  EXPECT_TRUE(straggler->was_cut());
}

TEST_F(Revocation, AHostilePeerThatPinsEverythingDelaysOnlyALittle) {
  std::vector<std::unique_ptr<Pin>> pins;
  for (std::size_t i = 0; i < kPinSlots; ++i) {
    const std::uint64_t at = place() + i * kMostPinned / 2 % pages_.size();
    pins.emplace_back(new Pin(theirs_->key_directory().pin(pin_word(at, kMostPinned, us_->owner(), door_.index))));
  }
  std::byte* const there = hold(0)->data();
  EXPECT_EQ(there, nullptr);  // no pin is left
  revoke();
  EXPECT_TRUE(is_all(1));
  expect_soon("a hundred registrations", [&] {
    for (int i = 0; i < 100; ++i) {
      static_cast<void>(publish(kKey));
      ours_->await(ours_->withdraw(kKey));
    }
  });
}

// Threads go on storing into the region, each into words of its own, while it is taken away from under two pins that
// have pages in common.
TEST_F(Revocation, NoStoreOfAThreadIsLost) {
  constexpr int kRounds = 30;
  constexpr std::size_t kThreads = 2;
  for (int round = 0; round < kRounds; ++round) {
    auto straggler = hold(0);
    auto another = hold(kPiece / 2);
    ASSERT_TRUE(*straggler && *another);
    std::memset(pages_.data(), 0, pages_.size());
    std::atomic<bool> is_over{false};
    std::atomic<std::size_t> running{0};
    std::uint64_t passes[kThreads] = {};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::uint64_t pass = 1; !is_over.load(); ++pass) {
          for (std::size_t at = t * 8; at < pages_.size(); at += 512) {
            *reinterpret_cast<volatile std::uint64_t*>(pages_.data() + at) = pass;
          }
          passes[t] = pass;
          if (pass == 1) running.fetch_add(1);
        }
      });
    }
    while (running.load() < kThreads) std::this_thread::yield();
    ours_->await(ours_->withdraw(kKey));
    is_over.store(true);
    for (std::thread& thread : threads) thread.join();
    for (std::size_t t = 0; t < kThreads; ++t) {
      for (std::size_t at = t * 8; at < pages_.size(); at += 512) {
        ASSERT_EQ(*reinterpret_cast<std::uint64_t*>(pages_.data() + at), passes[t]) << "round " << round;
      }
    }
    straggler.reset();
    another.reset();
    ASSERT_TRUE(publish(kKey));
  }
}

TEST_F(Revocation, AChildHasWhatWasThere) {
  const auto straggler = hold(0);
  revoke();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool was_there = is_all(1);
    std::memset(pages_.data(), 3, pages_.size());
    ::_exit(was_there && is_all(3) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(is_all(1));
}

TEST_F(Revocation, MemoryThatItsOwnerHasMovedAndProtectedIsTakenAwayAsWell) {
  const Pages elsewhere(kPages);
  const auto straggler = hold(0);
  ASSERT_EQ(::mremap(pages_.data(), 2 * kPage, 2 * kPage, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.data()),
            elsewhere.data());
  ASSERT_EQ(::mprotect(pages_.data() + 2 * kPage, kPage, PROT_READ), 0);
  revoke();
  std::memset(straggler->data(), 0xff, kPiece);
  EXPECT_EQ(elsewhere.data()[kPage], std::byte{1});
  EXPECT_EQ(pages_.data()[2 * kPage], std::byte{1});
  EXPECT_EQ(pages_.data()[3 * kPage], std::byte{1});
}

// A thread of our own may be stopped for good, too.
TEST_F(Revocation, AThreadOfOurOwnThatNeverGoesOnIsGivenUp) {
  const Pin own = ours_->key_directory().pin(pin_word(0, kPage, them_->owner(), 0));
  ASSERT_TRUE(static_cast<bool>(own));
  const base::Time begin = base::Clock::now();
  ours_->await(ours_->withdraw(kKey));
  EXPECT_LT(base::Clock::now() - begin, kHang);
  ASSERT_TRUE(publish(kKey));
  ours_->await(ours_->withdraw(kKey));
}

// A peer that is killed with a pin in its hand keeps nobody waiting, and takes nothing with it.
TEST_F(Revocation, TheDeadHoldNothing) {
  ASSERT_TRUE(publish(kOtherKey));
  const std::uint64_t number = Arena::of_process()->number();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    KeyDirectory key_directory;
    const auto owner = key_directory.add_owner(number);
    const Pin held = key_directory.pin(pin_word(place(), kPiece, owner.value_or(0), 0));
    const int file = key_directory.file();
    if (::write(ready[1], &file, sizeof file) != sizeof file) ::_exit(2);
    for (;;) ::pause();
  }
  int file = -1;
  ASSERT_EQ(::read(ready[0], &file, sizeof file), static_cast<ssize_t>(sizeof file));
  base::UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  base::UniqueFd key_directory(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), file, 0)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  if (!key_directory) GTEST_SKIP() << "no pidfd_getfd here";
  const auto dead =
      ours_->peers().attach(std::move(key_directory), duplicate(theirs_->arena_file()), std::move(process));
  ASSERT_NE(dead, nullptr);
  revoke();
  EXPECT_TRUE(is_reachable(0, 8, kOtherKey));
}

// The files of a peer and the pages of its key directory are released when its link has ended.
TEST_F(Revocation, APeerIsForgottenWhenItHasHungUpOrLetGo) {
  KeyDirectory foreign;
  const base::UniqueFd arena = create_shared_file("softdat-test-arena", kArenaBytes);
  const std::uint32_t owner = *foreign.add_owner(Arena::of_process()->number());
  const auto meet = [&] { return ours_->peers().attach(duplicate(foreign.file()), duplicate(arena.get()), {}); };
  std::unique_ptr<Pin> pin(new Pin(foreign.pin(pin_word(place(), 8, owner, 0))));
  auto gone = meet();
  auto severed = meet();
  ASSERT_TRUE(gone != nullptr && severed != nullptr);
  const std::weak_ptr<Peer> gone_too = gone;
  const std::weak_ptr<Peer> severed_too = severed;
  ours_->peers().detach(gone, true);
  gone.reset();
  EXPECT_TRUE(gone_too.expired());
  ours_->peers().detach(severed);
  severed.reset();
  EXPECT_FALSE(severed_too.expired());  // we have ended the link, and it may still be writing
  pin.reset();
  const auto next = meet();
  EXPECT_TRUE(severed_too.expired());
  ours_->peers().detach(next);
}

}  // namespace
}  // namespace softdat::simnic::direct::testing
