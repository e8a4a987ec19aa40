// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/segment.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "memory/shared_file.h"

namespace softdat::transport::shm {
namespace {

constexpr std::size_t kFrontBytes = 2 * kPage;

static_assert(sizeof(SegmentHeader) <= kPage);

constexpr std::size_t total_bytes(std::size_t ring_bytes) {
  return kFrontBytes + 2 * ring_bytes;
}

void* map_at(void* where, std::size_t length, int fd, std::size_t offset) {
  const int fixed = where == nullptr ? 0 : MAP_FIXED;
  void* got = ::mmap(where, length, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, static_cast<off_t>(offset));
  return got == MAP_FAILED ? nullptr : got;
}

// Front pages first (header and controls), then a ring for each direction.
SegmentHeader make_header(std::size_t ring_bytes) {
  SegmentHeader header;
  header.magic = kSegmentMagic;
  header.version = kSegmentVersion;
  header.total_bytes = total_bytes(ring_bytes);
  header.regions[0] = {RegionKind::kRingOfConnector, 0, kFrontBytes, ring_bytes};
  header.regions[1] = {RegionKind::kRingOfAcceptor, 0, kFrontBytes + ring_bytes, ring_bytes};
  return header;
}

// The ring size that a peer's header tells, or 0 when the header is not to be believed.
std::size_t check_header(const SegmentHeader& header, std::uint64_t file_bytes) {
  const std::uint64_t ring_bytes = header.regions[0].length;
  if (ring_bytes < kSmallestRing || ring_bytes > kLargestRing) return 0;
  if (!std::has_single_bit(ring_bytes)) return 0;
  // All but the ring's size must be as we would write it; nothing else of the header is used afterwards.
  const SegmentHeader expected = make_header(ring_bytes);
  if (header.magic != expected.magic || header.version != expected.version) return 0;
  if (header.total_bytes != file_bytes || file_bytes < expected.total_bytes) return 0;
  for (int i = 0; i < 2; ++i) {
    const Region& theirs = header.regions[i];
    const Region& ours = expected.regions[i];
    if (theirs.kind != ours.kind || theirs.offset != ours.offset || theirs.length != ours.length) {
      return 0;
    }
  }
  return ring_bytes;
}

}  // namespace

Segment::Segment(Segment&& other) noexcept {
  *this = std::move(other);
}

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(places_, other.places_);
  std::swap(memory_, other.memory_);
  std::swap(front_, other.front_);
  std::swap(rings_, other.rings_);
  std::swap(ring_bytes_, other.ring_bytes_);
  return *this;
}

Segment::~Segment() {
  unmap();
}

std::string Segment::problem(std::size_t ring_bytes) {
  const base::UniqueFd file = memory::create_shared_file("softdat-link", total_bytes(ring_bytes));
  return file ? std::string() : memory::shared_file_problem(total_bytes(ring_bytes));
}

std::optional<Segment> Segment::create(std::size_t ring_bytes, SegmentPlaces& places) {
  Segment segment;
  segment.places_ = &places;
  segment.memory_ = memory::create_shared_file("softdat-link", total_bytes(ring_bytes));
  if (!segment.memory_ || !segment.map(ring_bytes)) return {};
  new (segment.front_) SegmentHeader(make_header(ring_bytes));
  return segment;
}

std::optional<Segment> Segment::attach(base::UniqueFd memory, SegmentPlaces& places) {
  Segment segment;
  segment.places_ = &places;
  segment.memory_ = std::move(memory);
  const int fd = segment.memory_.get();
  // A segment that can shrink would turn our next access into a SIGBUS.
  struct stat status = {};
  if (!memory::is_sealed_memory(fd) || ::fstat(fd, &status) != 0) return {};
  SegmentHeader header;
  // A copy by pread: the peer can change the file between the check and the use.
  if (::pread(fd, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) return {};
  const std::size_t ring_bytes = check_header(header, static_cast<std::uint64_t>(status.st_size));
  if (ring_bytes == 0 || !segment.map(ring_bytes)) return {};
  return segment;
}

// Maps the ring's bytes twice in a row.
std::byte* Segment::map_mirrored(int fd, std::size_t offset, std::size_t length) {
  // A record that wraps around the end of the ring lies in one piece here, so it is copied without a seam.
  std::byte* const bytes = places_->take(2 * length);
  if (bytes == nullptr) return nullptr;
  if (map_at(bytes, length, fd, offset) && map_at(bytes + length, length, fd, offset)) return bytes;
  places_->give_back(bytes, 2 * length);
  return nullptr;
}

// False: the system has no room. What has been mapped goes with the segment.
bool Segment::map(std::size_t ring_bytes) {
  ring_bytes_ = ring_bytes;
  const int fd = memory_.get();
  front_ = static_cast<std::byte*>(map_at(nullptr, kFrontBytes, fd, 0));
  for (std::size_t i = 0; i < 2; ++i) {
    rings_[i] = map_mirrored(fd, kFrontBytes + i * ring_bytes, ring_bytes);
  }
  return front_ != nullptr && rings_[0] != nullptr && rings_[1] != nullptr;
}

void Segment::unmap() {
  if (front_ != nullptr) ::munmap(front_, kFrontBytes);
  for (std::byte* ring : rings_) {
    if (ring != nullptr) places_->give_back(ring, 2 * ring_bytes_);
  }
}

RingMemory Segment::ring_of(Side side) const {
  const auto index = static_cast<std::size_t>(side);
  // A memfd begins as zeros, which is what these words begin as; they are never constructed, so
  // that neither side disturbs the other.
  auto* controls = reinterpret_cast<RingControl*>(front_ + kPage);
  return {controls + index, rings_[index], ring_bytes_};
}

}  // namespace softdat::transport::shm
