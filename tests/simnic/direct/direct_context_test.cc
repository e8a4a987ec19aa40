// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/direct/direct_context.h"

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/simnic/direct/two_contexts.h"

namespace softdat::simnic::direct::testing {
using namespace memory;
using namespace memory::testing;
namespace {

std::uint64_t address_space() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * kPage;
}

class DirectContextTest : public TwoContexts {
 protected:
  bool publish(std::uint32_t key = kKey) {
    return ours_->publish(key,
                          {.address = pages_.address(), .length = pages_.size(), .access = kRight, .domain = kDomain},
                          pages_.address());
  }
  void revoke() { ours_->await(ours_->withdraw(kKey)); }
  Target target(std::uint64_t address, std::uint64_t length, std::uint32_t rights = kRight) const {
    return {kKey, address, length, rights};
  }
  // Where they find it.
  std::byte* find(const Target& what, const Door& door) {
    return Grip(*us_, theirs_->key_directory(), what, 0, what.length, door).data();
  }
  std::byte* find(std::uint64_t address, std::uint64_t length, std::uint32_t rights = kRight) {
    return find(target(address, length, rights), door_);
  }
  std::byte* find() { return find(pages_.address(), pages_.size()); }
  // They hold all of it, as in the middle of a copy.
  std::unique_ptr<Grip> hold() {
    return std::make_unique<Grip>(*us_, theirs_->key_directory(), target(pages_.address(), pages_.size()), 0,
                                  pages_.size(), door_);
  }

  Pages pages_{4};
};

TEST_F(DirectContextTest, APeerReachesPublishedMemory) {
  ASSERT_TRUE(publish());
  const Grip grip(*us_, theirs_->key_directory(), target(pages_.address(), pages_.size()), 10, 1, door_);
  ASSERT_TRUE(static_cast<bool>(grip));
  *grip.data() = std::byte{77};
  EXPECT_EQ(pages_.data()[10], std::byte{77});
  EXPECT_FALSE(grip.was_cut());
}

TEST_F(DirectContextTest, RangeAndRightsAndDomainAndQpEntryAreChecked) {
  ASSERT_TRUE(publish());
  EXPECT_NE(find(pages_.address(), pages_.size()), nullptr);
  EXPECT_EQ(find(pages_.address() - 1, 1), nullptr);
  EXPECT_EQ(find(pages_.address() + 1, pages_.size()), nullptr);
  EXPECT_EQ(find(pages_.address() + pages_.size(), 1), nullptr);
  EXPECT_EQ(find(~std::uint64_t{0}, 2), nullptr);
  EXPECT_EQ(find(pages_.address(), 1, kRight | 1), nullptr);
  EXPECT_EQ(find(target(pages_.address(), 1), *us_->find_door(door_.index, door_.connection + 1)), nullptr);
  EXPECT_EQ(find({kKey + 1, pages_.address(), 1, kRight}, door_), nullptr);
  const std::uint32_t other = *ours_->key_directory().take_qp_entry(kDomain + 1);
  ours_->key_directory().open_qp_entry(other, door_.connection);
  EXPECT_EQ(find(target(pages_.address(), 1), *us_->find_door(other, door_.connection)), nullptr);
}

TEST_F(DirectContextTest, AWithdrawnKeyAndAClosedQpEntryOpenNothing) {
  ASSERT_TRUE(publish());
  ours_->key_directory().close_qp_entry(door_.index);
  EXPECT_EQ(find(), nullptr);
  ours_->key_directory().open_qp_entry(door_.index, door_.connection);
  revoke();
  EXPECT_EQ(find(), nullptr);
}

TEST_F(DirectContextTest, ThereAreAsManyPinsAsSlots) {
  const std::uint64_t word = pin_word(0, 1, us_->owner(), door_.index);
  std::vector<std::unique_ptr<Pin>> pins;
  for (std::size_t i = 0; i < kPinSlots; ++i) {
    pins.emplace_back(new Pin(theirs_->key_directory().pin(word)));
    EXPECT_TRUE(static_cast<bool>(*pins.back()));
  }
  EXPECT_FALSE(static_cast<bool>(theirs_->key_directory().pin(word)));
  pins.pop_back();
  EXPECT_TRUE(static_cast<bool>(theirs_->key_directory().pin(word)));
}

// The promise of dat_lmr_free: when it has returned nobody stores into the memory.
TEST_F(DirectContextTest, FreedMemoryIsSafeFromAPeerUnderFire) {
  constexpr int kRounds = 10'000;
  std::atomic<bool> is_over{false};
  std::atomic<std::uint64_t> hits{0};
  std::thread peer([&] {
    while (!is_over.load(std::memory_order_relaxed)) {
      const std::unique_ptr<Grip> grip = hold();
      if (!*grip) continue;
      std::memset(grip->data(), 0xff, pages_.size());
      hits.fetch_add(1, std::memory_order_relaxed);
    }
  });
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t before = hits.load();
    // A peer that got no processor for long still holds what was taken away from it.
    while (!publish()) std::this_thread::yield();
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

// Their address space would hold few peers if each took as much as an arena can be large.
TEST_F(DirectContextTest, APeersArenaIsMappedWhereItIsUsed) {
  KeyDirectory key_directory;
  const base::UniqueFd arena = create_shared_file("softdat-test-arena", kArenaBytes);
  const std::uint32_t qp_entry = *key_directory.take_qp_entry(kDomain);
  key_directory.open_qp_entry(qp_entry, 1);
  key_directory.publish(kKey, {.address = 0, .length = kArenaBytes, .access = kRight, .domain = kDomain}, 0);
  const std::uint64_t before = address_space();
  const auto peer = ours_->peers().attach(duplicate(key_directory.file()), duplicate(arena.get()), {});
  ASSERT_NE(peer, nullptr);
  const Door door = *peer->find_door(qp_entry, 1);
  // Anywhere, and across the end of what is mapped at a time.
  for (const std::uint64_t place : {std::uint64_t{5}, (std::uint64_t{1} << 32) - 1, kSlabBytes - 1, kArenaBytes - 2}) {
    const Grip grip(*peer, ours_->key_directory(), {kKey, place, 2, kRight}, 0, 2, door);
    ASSERT_TRUE(static_cast<bool>(grip)) << place;
    grip.data()[0] = grip.data()[1] = std::byte{9};
    char there[2] = {};
    ASSERT_EQ(::pread(arena.get(), there, 2, static_cast<off_t>(place)), 2);
    EXPECT_EQ(std::string(there, 2), "\x09\x09") << place;
  }
  EXPECT_LT(address_space() - before, kKeyDirectoryBytes + 5 * (std::uint64_t{1} << 32));
  ours_->peers().detach(peer);
}

std::size_t count_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

// What a peer says of its own memory decides where we map it. A process may have some 65,000 mappings.
TEST_F(DirectContextTest, APeerThatNamesManyPlacesTakesFewMappings) {
  constexpr std::uint64_t kApart = std::uint64_t{2} << SparseView::kPieceShift;
  KeyDirectory key_directory;
  const base::UniqueFd arena = create_shared_file("softdat-test-arena", kArenaBytes);
  const std::uint32_t qp_entry = *key_directory.take_qp_entry(kDomain);
  key_directory.open_qp_entry(qp_entry, 1);
  key_directory.publish(kKey, {.address = 0, .length = kArenaBytes, .access = kRight, .domain = kDomain}, 0);
  const auto peer = ours_->peers().attach(duplicate(key_directory.file()), duplicate(arena.get()), {});
  ASSERT_NE(peer, nullptr);
  const Door door = *peer->find_door(qp_entry, 1);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Grip grip(*peer, ours_->key_directory(), {kKey, i * kApart, 1, kRight}, 0, 1, door);
    ASSERT_TRUE(static_cast<bool>(grip)) << i;
  }
  EXPECT_LT(count_mappings(), 12'000u);
  ours_->peers().detach(peer);
}

TEST_F(DirectContextTest, FilesOfAnotherKindAreNoPeer) {
  EXPECT_EQ(ours_->peers().attach(duplicate(theirs_->arena_file()), duplicate(theirs_->key_directory_file()), {}),
            nullptr);
  EXPECT_EQ(ours_->peers().attach(duplicate(0), duplicate(theirs_->arena_file()), {}), nullptr);
}

// A key directory that lies names nothing outside the arena.
TEST_F(DirectContextTest, AnOffsetBeyondTheArenaIsRefused) {
  ours_->key_directory().publish(kKey, {.address = 0, .length = ~std::uint64_t{0}, .access = kRight, .domain = kDomain},
                                 0);
  EXPECT_NE(find(kArenaBytes - 1, 1), nullptr);
  EXPECT_EQ(find(kArenaBytes - 1, 2), nullptr);
  EXPECT_EQ(find(kArenaBytes, 1), nullptr);
  EXPECT_EQ(find(0, kMostPinned + 1), nullptr);
  EXPECT_EQ(find(~std::uint64_t{0} - 1, 1), nullptr);
}

}  // namespace
}  // namespace softdat::simnic::direct::testing
