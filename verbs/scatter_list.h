// SPDX-License-Identifier: BSD-2-Clause
// The segments of a request as a device reads them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "hca/types.h"
#include "verbs/library.h"

namespace softdat::verbs {

// More than this no adapter of ours offers, whatever its device can do.
inline constexpr std::uint32_t kMostSegments = 30;

// On the stack of whoever posts. Empty segments are left out: devices read length 0 as 2^31, and the
// key of an empty region opens nothing.
class ScatterList {
 public:
  // Requires kMostSegments or fewer.
  explicit ScatterList(std::span<const hca::Segment> segments) {
    for (const hca::Segment& segment : segments) {
      if (segment.length == 0) continue;
      entries_[static_cast<std::size_t>(count_++)] = {segment.address, segment.length, segment.lkey};
    }
  }
  ibv_sge* data() { return count_ == 0 ? nullptr : entries_.data(); }
  int size() const { return count_; }
  // For devices that refuse a receive without segments: it gets one of no bytes. False when there are some.
  bool give_empty_segment(ibv_recv_wr& work) {
    if (count_ != 0) return false;
    entries_[0] = {};
    work.sg_list = entries_.data();
    work.num_sge = 1;
    return true;
  }

 private:
  std::array<ibv_sge, kMostSegments> entries_;
  int count_ = 0;
};

}  // namespace softdat::verbs
