// SPDX-License-Identifier: BSD-2-Clause
// FailureWatch: the sinks that are told when the NIC fails. Owned by the engine. REQUIRES of every call: the baton.
#pragma once

#include <utility>
#include <vector>

#include "hca/device.h"
#include "simnic/upcall_queue.h"

namespace softdat::simnic {

class FailureWatch {
 public:
  explicit FailureWatch(UpcallQueue& upward) : upcalls_(upward) {}

  // Throws std::bad_alloc.
  void add(hca::DeviceSink& sink) {
    sinks_.reserve(sinks_.size() + 1);
    upcalls_.reserve(1);
    sinks_.push_back(&sink);
    if (has_failed_) upcalls_.post(&sink, FailureUpcall{&sink});
  }
  // An upcall to the sink that still waits must be dropped with UpcallQueue::forget().
  void remove(hca::DeviceSink& sink) {
    const std::size_t removed = std::erase(sinks_, &sink);
    if (!has_failed_) upcalls_.release(removed);
  }

  // Calls each sink once, however often the NIC fails.
  void tell() {
    if (std::exchange(has_failed_, true)) return;
    for (hca::DeviceSink* sink : sinks_) upcalls_.post(sink, FailureUpcall{sink});
  }

 private:
  UpcallQueue& upcalls_;
  std::vector<hca::DeviceSink*> sinks_;
  bool has_failed_ = false;
};

}  // namespace softdat::simnic
