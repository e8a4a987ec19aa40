// SPDX-License-Identifier: BSD-2-Clause
#include "memory/address_map.h"

#include <cstring>
#include <memory>
#include <thread>

#include "memory/shared_file.h"
#include "tests/memory/pages.h"

namespace softdat::memory::testing {
namespace {

MappingKind kind_at(const void* where) {
  const auto address = reinterpret_cast<std::uint64_t>(where);
  const std::vector<Mapping> map = read_address_map(address, address + 1, {});
  EXPECT_EQ(map.size(), 1u);
  return map.empty() ? MappingKind::kForeign : map.front().kind;
}

TEST(AddressMap, PrivatePagesArePlain) {
  const Pages pages(4);
  EXPECT_EQ(kind_at(pages.data()), MappingKind::kPlain);
}

TEST(AddressMap, SharedPagesAreForeign) {
  const Pages pages(4, MAP_SHARED | MAP_ANONYMOUS);
  EXPECT_EQ(kind_at(pages.data()), MappingKind::kForeign);
}

TEST(AddressMap, TheStackIsForeign) {
  const int here = 0;
  EXPECT_EQ(kind_at(&here), MappingKind::kForeign);
}

// Stacks lie one below the other, so that many places in a block of addresses are tried.
void expect_foreign_stacks(int count) {
  if (count == 0) return;
  std::thread([&] {
    const int here = 0;
    EXPECT_EQ(kind_at(&here), MappingKind::kForeign);
    expect_foreign_stacks(count - 1);
  }).join();
}

TEST(AddressMap, AStackOfAThreadIsForeign) {
  expect_foreign_stacks(20);
}

constexpr std::size_t kHeapBlock = std::size_t{64} << 20;

// A block of addresses such as malloc takes for a thread's heap, and the first pages of the block behind it. All of it
// is inaccessible at first.
class HeapBlock {
 public:
  HeapBlock() {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    reserve_ = static_cast<std::byte*>(::mmap(nullptr, kReserve, PROT_NONE, kFlags, -1, 0));
    EXPECT_NE(static_cast<void*>(reserve_), MAP_FAILED);
    const auto address = reinterpret_cast<std::uint64_t>(reserve_);
    block_ = reserve_ + ((address + kHeapBlock - 1) / kHeapBlock * kHeapBlock - address);
    make_plain(end());
  }
  ~HeapBlock() { ::munmap(reserve_, kReserve); }
  HeapBlock(const HeapBlock&) = delete;
  HeapBlock& operator=(const HeapBlock&) = delete;

  std::byte* begin() const { return block_; }
  std::byte* end() const { return block_ + kHeapBlock; }
  static void make_plain(std::byte* page) { EXPECT_EQ(::mprotect(page, kPage, PROT_READ | PROT_WRITE), 0); }

 private:
  static constexpr std::size_t kReserve = 3 * kHeapBlock;
  std::byte* reserve_ = nullptr;
  std::byte* block_ = nullptr;
};

TEST(AddressMap, AStackThatBeginsWithABlockIsForeign) {
  const HeapBlock block;
  // A page that is in use, so that the guard is smaller than a block.
  HeapBlock::make_plain(block.end() - 4 * kPage);
  EXPECT_EQ(kind_at(block.end()), MappingKind::kForeign);
}

TEST(AddressMap, PagesBehindTheUnusedRestOfAHeapArePlain) {
  const HeapBlock block;
  HeapBlock::make_plain(block.begin());
  const std::uint64_t words[2] = {reinterpret_cast<std::uint64_t>(block.begin()) + 48, 0};
  std::memcpy(block.begin(), words, sizeof words);
  EXPECT_EQ(kind_at(block.end()), MappingKind::kPlain);
}

TEST(AddressMap, PagesBehindALargeReserveOfAddressesArePlain) {
  constexpr std::size_t kReserve = std::size_t{256} << 20;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  auto* const reserve = static_cast<std::byte*>(::mmap(nullptr, kReserve + 5 * kPage, PROT_NONE, kFlags, -1, 0));
  ASSERT_NE(static_cast<void*>(reserve), MAP_FAILED);
  ASSERT_EQ(::mprotect(reserve + kReserve, 4 * kPage, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(kind_at(reserve + kReserve + kPage), MappingKind::kPlain);
  ::munmap(reserve, kReserve + 5 * kPage);
}

TEST(AddressMap, CodeIsForeign) {
  EXPECT_EQ(kind_at(reinterpret_cast<const void*>(&identify_file)), MappingKind::kForeign);
}

TEST(AddressMap, AViewOfTheFileIsKnownWithItsPlace) {
  const base::UniqueFd file = create_shared_file("test", 16 * kPage);
  ASSERT_TRUE(static_cast<bool>(file));
  const SharedView view(file.get(), 2 * kPage, 4 * kPage, SharedView::Rights::kReadWrite);
  const auto address = reinterpret_cast<std::uint64_t>(view.data());
  const std::vector<Mapping> map = read_address_map(address, address + kPage, identify_file(file.get()));
  ASSERT_EQ(map.size(), 1u);
  EXPECT_EQ(map.front().kind, MappingKind::kArena);
  EXPECT_EQ(map.front().file_offset, 2 * kPage);
}

TEST(AddressMap, WhatIsNotMappedIsNotThere) {
  auto pages = std::make_unique<Pages>(1);
  const std::uint64_t address = pages->address();
  pages.reset();
  const std::vector<Mapping> map = read_address_map(address, address + kPage, {});
  for (const Mapping& mapping : map) EXPECT_TRUE(mapping.end <= address || mapping.begin > address);
}

}  // namespace
}  // namespace softdat::memory::testing
