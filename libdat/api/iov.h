// SPDX-License-Identifier: BSD-2-Clause
// Iov: a copy of a program's I/O vector as the objects want it. Another thread of the program may change the vector
// during the post, and what has been checked must be what is used. A list that is longer than any that the simulated
// adapter takes is used in place.
//
// Lives on the stack of one post, which may be small. Takes no memory and no lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>

#include "hca/segment_copy.h"
#include "libdat/api/answer.h"
#include "libdat/api/numbers.h"
#include "libdat/object/endpoint.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

// The completion flags that a send or an RDMA operation may have.
inline constexpr std::uint32_t kRequestFlags = DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG |
                                               DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG;

class Iov {
 public:
  // Takes `count` triplets, which are arguments 3 and 2 of every post. Nothing is read before the count is known to be
  // sane.
  Status read(const DAT_LMR_TRIPLET* triplets, DAT_COUNT count) {
    if (count < 0 || count > api::kLargestIov) return object::invalid_parameter(argument(2));
    if (count > 0 && triplets == nullptr) return object::invalid_parameter(argument(3));
    return take(triplets, static_cast<std::size_t>(count));
  }

  // Valid until the Iov or the program's vector ends. Empty before read().
  std::span<const object::Segment> segments() const { return segments_; }

 private:
#if SOFTDAT_ABI == 20
  // A longer list would need more stack than a post may take.
  static constexpr std::size_t kMostCopied = 32;
  static_assert(sizeof(DAT_LMR_TRIPLET) == sizeof(object::Segment));
  static_assert(offsetof(DAT_LMR_TRIPLET, virtual_address) == offsetof(object::Segment, address));
  static_assert(offsetof(DAT_LMR_TRIPLET, segment_length) == offsetof(object::Segment, length));
  static_assert(offsetof(DAT_LMR_TRIPLET, lmr_context) == offsetof(object::Segment, lkey));

  Status take(const DAT_LMR_TRIPLET* triplets, std::size_t count) {
    const auto* const from = reinterpret_cast<const object::Segment*>(triplets);
    segments_ = {copies_, count};
    if (count == 1) [[likely]]
      copy_just_written(triplets[0], copies_[0]);
    else if (count <= kMostCopied)
      std::copy_n(from, count, copies_);
    else
      segments_ = {from, count};
    return object::kOk;
  }

  // Most programs have written the triplet right before the post.
  static void copy_just_written(const DAT_LMR_TRIPLET& from, object::Segment& to) {
    hca::write_words(to, hca::read_alone(from.virtual_address),
                     static_cast<std::uint32_t>(hca::read_alone(from.segment_length)),
                     hca::read_alone(from.lmr_context));
  }
#else
  static constexpr std::size_t kMostCopied = api::kLargestIov;

  // Refuses lengths that DAT 1.2 can say (64 bits) and no adapter can carry.
  Status take(const DAT_LMR_TRIPLET* triplets, std::size_t count) {
    constexpr DAT_VLEN kLongest = std::numeric_limits<std::uint32_t>::max();
    for (std::size_t i = 0; i < count; ++i) {
      const DAT_VLEN length = hca::read_alone(triplets[i].segment_length);
      if (length > kLongest) return object::invalid_parameter(argument(3));
      hca::write_words(copies_[i], hca::read_alone(triplets[i].virtual_address), static_cast<std::uint32_t>(length),
                       hca::read_alone(triplets[i].lmr_context));
    }
    segments_ = {copies_, count};
    return object::kOk;
  }
#endif

  object::Segment copies_[kMostCopied];
  std::span<const object::Segment> segments_;
};

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
