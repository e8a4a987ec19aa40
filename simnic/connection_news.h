// SPDX-License-Identifier: BSD-2-Clause
// ConnectionNews: the upcalls about a connection, two at most: it is established, and it has ended or failed. Their
// places are reserved before the connection begins, so that tell() never fails. REQUIRES the baton.
#pragma once

#include <cstddef>
#include <utility>

#include "hca/queue_pair.h"
#include "simnic/upcall_queue.h"

namespace softdat::simnic {

class ConnectionNews {
 public:
  // `owner` identifies the upcalls for UpcallQueue::forget(). `path` belongs to the owner. `sink` may be null: tell()
  // does nothing then. All outlive this object.
  ConnectionNews(UpcallQueue& upcalls, const void* owner, hca::QueuePairSink* sink, DirectPath& path)
      : upcalls_(upcalls), owner_(owner), sink_(sink), path_(path) {}

  // Throws std::bad_alloc without any effect.
  void promise() {
    constexpr std::size_t kMost = 2;
    upcalls_.reserve(kMost);
    promised_ = kMost;
  }
  // Gives back the places that tell() has not used.
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
