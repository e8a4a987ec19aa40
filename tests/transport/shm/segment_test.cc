// SPDX-License-Identifier: BSD-2-Clause
// Segments: shared as they should be, and refused when they are not what they say.
#include "transport/shm/segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <optional>
#include <utility>

namespace softdat::transport::shm {
namespace {

SegmentPlaces places;

std::optional<Segment> attach(base::UniqueFd memory) {
  return Segment::attach(std::move(memory), places);
}

base::UniqueFd copy_of(int fd) {
  return base::UniqueFd(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
}

// A memfd with this header, as a peer might send it.
base::UniqueFd forge(const std::function<void(SegmentHeader&)>& change, bool is_sealed = true,
                     std::uint64_t bytes = 2 * kPage + 2 * kSmallestRing) {
  const auto honest = Segment::create(kSmallestRing, places);
  SegmentHeader header;
  EXPECT_EQ(::pread(honest->memory_fd(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  change(header);
  base::UniqueFd fd(::memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
  EXPECT_EQ(::pwrite(fd.get(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  if (is_sealed) ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return fd;
}

TEST(SegmentTest, BothSidesSeeTheSameBytesTwiceInARow) {
  const auto ours = Segment::create(kSmallestRing, places);
  ASSERT_TRUE(ours);
  const auto theirs = attach(copy_of(ours->memory_fd()));
  ASSERT_TRUE(theirs);
  for (const Side side : {Side::kConnector, Side::kAcceptor}) {
    const RingMemory one = ours->ring_of(side);
    const RingMemory two = theirs->ring_of(side);
    ASSERT_EQ(one.size, kSmallestRing);
    ASSERT_EQ(two.size, kSmallestRing);
    one.bytes[5] = side == Side::kConnector ? std::byte{11} : std::byte{12};
    EXPECT_EQ(two.bytes[5], one.bytes[5]);
    EXPECT_EQ(two.bytes[5 + kSmallestRing], one.bytes[5]);
    one.control->head.store(77);
    EXPECT_EQ(two.control->head.load(), 77u);
  }
  EXPECT_EQ(ours->ring_of(Side::kConnector).bytes[5], std::byte{11});
}

TEST(SegmentTest, ItsSizeCannotBeChanged) {
  const auto segment = Segment::create(kSmallestRing, places);
  EXPECT_NE(::ftruncate(segment->memory_fd(), 0), 0);
  EXPECT_NE(::ftruncate(segment->memory_fd(), 1 << 30), 0);
}

TEST(SegmentTest, AnHonestForgeryIsAccepted) {
  EXPECT_TRUE(attach(forge([](SegmentHeader&) {})));
}

TEST(SegmentTest, AnUnsealedSegmentIsRefused) {
  EXPECT_FALSE(attach(forge([](SegmentHeader&) {}, false)));
}

TEST(SegmentTest, AHeaderThatLiesIsRefused) {
  const std::function<void(SegmentHeader&)> lies[] = {
      [](SegmentHeader& header) { header.magic ^= 1; },
      [](SegmentHeader& header) { header.version += 1; },
      [](SegmentHeader& header) { header.total_bytes += 1; },
      [](SegmentHeader& header) { header.regions[0].length = 0; },
      [](SegmentHeader& header) { header.regions[0].length *= 2; },
      [](SegmentHeader& header) { header.regions[0].length = ~0ull; },
      [](SegmentHeader& header) { header.regions[1].length /= 2; },
      [](SegmentHeader& header) { header.regions[1].offset = ~0ull; },
      [](SegmentHeader& header) { header.regions[0].kind = RegionKind::kNone; },
  };
  for (const auto& lie : lies) EXPECT_FALSE(attach(forge(lie)));
  EXPECT_FALSE(attach(forge([](SegmentHeader&) {}, true, kPage)));
}

TEST(SegmentTest, WhatIsNoMemfdIsRefused) {
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  EXPECT_FALSE(attach(base::UniqueFd(pipe[0])));
  EXPECT_FALSE(attach(base::UniqueFd(pipe[1])));
  EXPECT_FALSE(attach(base::UniqueFd()));
}

TEST(SegmentTest, LaterVersionsMayAppendRegions) {
  const auto grown = forge(
      [](SegmentHeader& header) {
        header.total_bytes += kPage;
        header.regions[2] = {static_cast<RegionKind>(99), 0, header.total_bytes - kPage, kPage};
      },
      true, 2 * kPage + 2 * kSmallestRing + kPage);
  EXPECT_TRUE(attach(copy_of(grown.get())));
}

// A polling thread may still load a word of a ring whose link has ended.
TEST(SegmentTest, TheAddressesOfItsRingsStayReadableUntilTheCarrierEnds) {
  std::optional<SegmentPlaces> of_carrier(std::in_place);
  std::optional<Segment> first = Segment::create(kSmallestRing, *of_carrier);
  ASSERT_TRUE(first);
  const volatile std::byte* const ring = first->ring_of(Side::kAcceptor).bytes;
  first->ring_of(Side::kAcceptor).bytes[kPage] = std::byte{7};
  first.reset();
  EXPECT_TRUE(ring[kPage] == std::byte{0});
  EXPECT_TRUE(ring[2 * kSmallestRing - 1] == std::byte{0});
  std::optional<Segment> second = Segment::create(kSmallestRing, *of_carrier);
  ASSERT_TRUE(second);
  const std::byte* const rings[] = {second->ring_of(Side::kAcceptor).bytes, second->ring_of(Side::kConnector).bytes};
  EXPECT_TRUE(ring == rings[0] || ring == rings[1]) << "addresses are used again";
  second.reset();
  of_carrier.reset();
  unsigned char is_resident = 0;
  EXPECT_EQ(::mincore(const_cast<std::byte*>(ring), kPage, &is_resident), -1) << "nothing is mapped there any more";
}

}  // namespace
}  // namespace softdat::transport::shm
