// SPDX-License-Identifier: BSD-2-Clause
// FailureWatch: the sinks that are told when the NIC fails. Owned by the engine. REQUIRES of every call: the baton.
#pragma once

#include <utility>
#include <vector>

#include "hca/device.h"
#include "simnic/upward_queue.h"

namespace softdat::simnic {

class FailureWatch {
 public:
  explicit FailureWatch(UpwardQueue& upward) : upward_(upward) {}

  // Throws std::bad_alloc.
  void add(hca::DeviceSink& sink) {
    sinks_.reserve(sinks_.size() + 1);
    upward_.promise(1);
    sinks_.push_back(&sink);
    if (has_failed_) upward_.say(&sink, FailureNews{&sink});
  }
  // An upcall to the sink that still waits must be dropped with UpwardQueue::forget().
  void remove(hca::DeviceSink& sink) {
    const std::size_t removed = std::erase(sinks_, &sink);
    if (!has_failed_) upward_.release(removed);
  }

  // Calls each sink once, however often the NIC fails.
  void tell() {
    if (std::exchange(has_failed_, true)) return;
    for (hca::DeviceSink* sink : sinks_) upward_.say(sink, FailureNews{sink});
  }

 private:
  UpwardQueue& upward_;
  std::vector<hca::DeviceSink*> sinks_;
  bool has_failed_ = false;
};

}  // namespace softdat::simnic
