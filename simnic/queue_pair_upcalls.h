// SPDX-License-Identifier: BSD-2-Clause
// QueuePairUpcalls: the upcalls of a queue pair to its sink: at most two events of a connection (established; ended or
// failed), and the one about too many receives. They go through the NIC's queue of upcalls.
//
// Places are reserved beforehand, so that no post fails. REQUIRES the baton, but of forget() its absence.
#pragma once

#include <cstddef>
#include <utility>

#include "hca/queue_pair.h"
#include "simnic/upcall_queue.h"

namespace softdat::simnic {

class QueuePairUpcalls {
 public:
  // `path` belongs to the queue pair. `sink` may be null: the posts do nothing then. All outlive this object. Throws
  // std::bad_alloc.
  QueuePairUpcalls(UpcallQueue& queue, hca::QueuePairSink* sink, DirectPath& path)
      : queue_(queue), sink_(sink), path_(path) {
    queue_.reserve(kRecvLimitPlaces);
  }
  // After forget().
  ~QueuePairUpcalls() { queue_.release(reserved_ + kRecvLimitPlaces); }
  QueuePairUpcalls(const QueuePairUpcalls&) = delete;
  QueuePairUpcalls& operator=(const QueuePairUpcalls&) = delete;

  // For a connection that begins. Throws std::bad_alloc without any effect.
  void reserve() {
    constexpr std::size_t kMost = 2;
    queue_.reserve(kMost);
    reserved_ = kMost;
  }
  // Gives back the places that post() has not used.
  void release() { queue_.release(std::exchange(reserved_, 0)); }
  void post(hca::ConnectionEvent event) {
    if (sink_ == nullptr) return;
    --reserved_;
    queue_.post(this, ConnectionUpcall{sink_, std::move(event), &path_});
  }
  void post_recv_limit() {
    if (sink_ != nullptr) queue_.post_counted(this, RecvLimitUpcall{sink_});
  }
  bool are_all_told() const { return !queue_.holds_any_of(this); }
  // When it returns, the sink is not called any more, unless this thread is within such a call.
  void forget() { queue_.forget(this); }

 private:
  static constexpr std::size_t kRecvLimitPlaces = 1;

  UpcallQueue& queue_;
  hca::QueuePairSink* const sink_;
  DirectPath& path_;
  std::size_t reserved_ = 0;  // places, for the connection
};

}  // namespace softdat::simnic
