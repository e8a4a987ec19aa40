// SPDX-License-Identifier: BSD-2-Clause
// The memory that two processes share: one sealed memfd per link, with a header that says what is
// where, and a ring in each direction.
//
// Layout: page 0 SegmentHeader; page 1 one RingControl per ring; from page 2 on the
// rings' bytes. Everything else is found through the header's regions, so that later versions can
// add regions that an older peer does not look at. What both peers may use is the intersection of the features of their
// handshakes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "transport/shm/segment_places.h"

namespace softdat::transport::shm {

inline constexpr std::uint64_t kSegmentMagic = 0x3130'5441'4454'4653;  // "SFTDAT01"
inline constexpr std::uint32_t kSegmentVersion = 4;
inline constexpr std::size_t kPage = 4096;
inline constexpr std::size_t kLine = 64;
inline constexpr std::size_t kSmallestRing = std::size_t{64} << 10;
inline constexpr std::size_t kLargestRing = std::size_t{16} << 20;

// The side that listened accepts the link, the other connects it. Each writes one ring.
enum class Side : std::uint32_t { kConnector = 0, kAcceptor = 1 };
constexpr Side other(Side side) {
  return side == Side::kConnector ? Side::kAcceptor : Side::kConnector;
}

enum class RegionKind : std::uint32_t {
  kNone = 0,
  kRingOfConnector = 1,  // written by the connector
  kRingOfAcceptor = 2,
};

struct Region {
  RegionKind kind = RegionKind::kNone;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

// Written once by the acceptor before the connector is told; never changes.
struct SegmentHeader {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t features = 0;
  std::uint64_t total_bytes = 0;
  Region regions[16];
};

constexpr std::size_t round_to_line(std::size_t bytes) {
  return (bytes + kLine - 1) & ~(kLine - 1);
}

// Two lines apart, because processors fetch lines in pairs.
inline constexpr std::size_t kApart = 2 * kLine;

// The words that go with one ring; ring_writer.h and ring_reader.h say who writes which and why.
struct RingControl {
  alignas(kApart) std::atomic<std::uint64_t> pulse;      // producer
  std::atomic<std::uint32_t> wants_room;                 // producer
  alignas(kApart) std::atomic<std::uint64_t> head;       // consumer
  alignas(kApart) std::atomic<std::uint32_t> is_asleep;  // consumer sets, producer claims
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(2 * sizeof(RingControl) <= kPage);

// Which side executes the fence between the producer's record and the consumer's sleep.
enum class SleepFence : bool {
  kBoth,      // each side, at each record and each sleep
  kConsumer,  // the consumer, for the producer, too: both processes have joined the fences (base/process_fence.h)
};

// One ring as mapped here: `bytes` is followed by a second view of itself, so that no record wraps.
struct RingMemory {
  RingControl* control = nullptr;
  std::byte* bytes = nullptr;
  std::size_t size = 0;
};

// Owns the mappings of one segment. Not the data in it: see the rings. `places` outlives it.
class Segment {
 public:
  Segment() = default;
  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&& other) noexcept;
  ~Segment();

  // Why there can be no segment, in words for the user; empty when there can.
  static std::string problem(std::size_t ring_bytes);

  // A new segment, its memfd sealed against any change of size. Nothing when the system refuses.
  static std::optional<Segment> create(std::size_t ring_bytes, SegmentPlaces& places);

  // Maps a peer's. Nothing when it is not sealed, or its header makes no sense.
  static std::optional<Segment> attach(base::UniqueFd memory, SegmentPlaces& places);

  // The ring that `side` writes.
  RingMemory ring_of(Side side) const;
  int memory_fd() const { return memory_.get(); }
  // After the peer has it, the descriptor is not needed any more.
  void drop_fd() { memory_.reset(); }

 private:
  bool map(std::size_t ring_bytes);
  std::byte* map_mirrored(int fd, std::size_t offset, std::size_t length);
  void unmap();

  SegmentPlaces* places_ = nullptr;
  base::UniqueFd memory_;
  std::byte* front_ = nullptr;  // header and controls
  std::byte* rings_[2] = {};
  std::size_t ring_bytes_ = 0;
};

}  // namespace softdat::transport::shm
