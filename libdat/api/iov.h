// SPDX-License-Identifier: BSD-2-Clause
// Iov: a program's I/O vector as the objects want it. The triplet of DAT 2.0 is laid out as a segment and is used in
// place; that of DAT 1.2 is copied.
//
// Lives on the stack of one post. Takes no memory and no lock. The segments are the program's own memory in DAT 2.0:
// another thread of the program may change them during the post. Code that checks a segment must then use the values
// that it checked.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

#include "libdat/api/answer.h"
#include "libdat/api/numbers.h"
#include "libdat/object/endpoint.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// The completion flags that a send or an RDMA operation may have.
inline constexpr std::uint32_t kRequestFlags = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                                               DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG;

class Iov {
 public:
  // Takes `count` triplets, which are arguments 3 and 2 of every post. The vector must stay as it is
  // while this lives. Nothing is read before the count is known to be sane.
  Status read(const DAT_LMR_TRIPLET* triplets, DAT_COUNT count) {
    if (count < 0 || count > api::kLargestIov) return object::invalid_parameter(argument(2));
    if (count > 0 && triplets == nullptr) return object::invalid_parameter(argument(3));
    return take(triplets, static_cast<std::size_t>(count));
  }

  // Valid until the Iov or the program's vector ends. Empty before read().
  std::span<const object::Segment> segments() const { return segments_; }

 private:
#if SOFTDAT_ABI == 20
  static_assert(sizeof(DAT_LMR_TRIPLET) == sizeof(object::Segment));
  static_assert(offsetof(DAT_LMR_TRIPLET, virtual_address) == offsetof(object::Segment, address));
  static_assert(offsetof(DAT_LMR_TRIPLET, segment_length) == offsetof(object::Segment, length));
  static_assert(offsetof(DAT_LMR_TRIPLET, lmr_context) == offsetof(object::Segment, lkey));

  Status take(const DAT_LMR_TRIPLET* triplets, std::size_t count) {
    segments_ = {reinterpret_cast<const object::Segment*>(triplets), count};
    return object::kOk;
  }
#else
  // Refuses lengths that DAT 1.2 can say (64 bits) and no adapter can carry.
  Status take(const DAT_LMR_TRIPLET* triplets, std::size_t count) {
    constexpr DAT_VLEN kLongest = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < count; ++i) {
      const DAT_LMR_TRIPLET& from = triplets[i];
      if (from.segment_length > kLongest) return object::invalid_parameter(argument(3));
      rewritten_[i] = {from.virtual_address, static_cast<std::uint32_t>(from.segment_length), from.lmr_context};
    }
    segments_ = {rewritten_, count};
    return object::kOk;
  }

  object::Segment rewritten_[api::kLargestIov];
#endif

  std::span<const object::Segment> segments_;
};

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
