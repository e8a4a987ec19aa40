// SPDX-License-Identifier: BSD-2-Clause
// ConnectionNews: what the consumer is still to be told of a connection, which is two things at most: that it is there,
// and that it is not (any more). Their places are taken before the connection begins, so that telling never fails.
// Owned by the baton.
#pragma once

#include <cstddef>
#include <utility>

#include "hca/queue_pair.h"
#include "simnic/upcall_queue.h"

namespace softdat::simnic {

class ConnectionNews {
 public:
  // `owner` is whose news it is, for UpcallQueue::forget(). `path` is the owner's. `sink` null: nobody is told. All
  // outlive it.
  ConnectionNews(UpcallQueue& upcalls, const void* owner, hca::QueuePairSink* sink, DirectPath& path)
      : upcalls_(upcalls), owner_(owner), sink_(sink), path_(path) {}

  // Throws std::bad_alloc without any effect.
  void promise() {
    constexpr std::size_t kMost = 2;
    upcalls_.reserve(kMost);
    promised_ = kMost;
  }
  // There is no more to tell.
  void release() { upcalls_.release(std::exchange(promised_, 0)); }
  void tell(hca::ConnectionEvent event) {
    if (sink_ == nullptr) return;
    --promised_;
    upcalls_.post(owner_, ConnectionUpcall{sink_, std::move(event), &path_});
  }

 private:
  UpcallQueue& upcalls_;
  const void* const owner_;
  hca::QueuePairSink* const sink_;
  DirectPath& path_;
  std::size_t promised_ = 0;  // places
};

}  // namespace softdat::simnic
