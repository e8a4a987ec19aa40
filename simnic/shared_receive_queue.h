// SPDX-License-Identifier: BSD-2-Clause
// SharedReceiveQueue: one queue of receives that the responders of many queue pairs take from, in
// the order in which their messages arrive. All queue pairs of a NIC share its baton, so there is
// one taker at a time; posters have a lock of their own.
//
// A poster pushes and looks at is_starved_ under the posting lock. A responder that finds no receive looks again under
// that lock, and sets is_starved_ (as in ReceivePosts, for one queue pair), so one of them sees the other. A starved
// queue pair stays on the list until it has asked its peer to try again. So a post wakes all queue pairs that still
// wait; the first message to come takes the receive.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/lock_order.h"
#include "base/spin_lock.h"
#include "hca/device.h"
#include "hca/receive_accounts.h"
#include "simnic/lock_places.h"
#include "simnic/quota.h"
#include "simnic/region_cache.h"
#include "simnic/scatter_gather.h"
#include "simnic/task.h"
#include "simnic/work_queue.h"

namespace softdat::simnic {

class Engine;

class SharedReceiveQueue final : public hca::SharedReceiveQueue, private Task {
 public:
  // Requires a pd, a sink, a capacity of at least 1 and an account of its own, which it closes.
  // Throws std::bad_alloc.
  SharedReceiveQueue(Engine& engine, MemoryTable& memory, std::uint32_t max_capacity, hca::ReceiveAccounts& accounts,
                     hca::ReceiveAccounts::Number account, const hca::SharedReceiveQueueConfig& config);
  ~SharedReceiveQueue() override;

  std::uint32_t capacity() const override;
  hca::Outcome post_recv(const hca::RecvRequest& request) override;
  hca::Failure explain(const hca::RecvRequest& request) const override;
  hca::Outcome resize(std::uint32_t capacity) override;
  void arm(std::uint32_t limit) override;
  hca::SharedReceiveCounts counts() const override;
  std::uint32_t high_water() const override;

  // For the maker, before others know the queue. `has_resize`: resize() may change the capacity.
  void set_share(Share share, bool has_resize) {
    share_ = std::move(share);
    has_resize_ = has_resize;
  }

  // Fixed.
  std::uint32_t max_segments() const { return max_segments_; }
  hca::ReceiveAccounts::Number account() const { return account_; }
  const MemoryView& memory() const { return memory_; }

  // --- For queue pairs, with the baton ---

  // A queue pair begins or ceases to use the queue. join() throws std::bad_alloc.
  void join();
  void leave(Task& queue_pair);

  // Moves the oldest receive to `to`, an empty queue of at least max_segments(). Without one the
  // queue pair starves, and is run when there is one, until sate() is called for it.
  bool take(WorkQueue<RecvEntry>& to, Task& queue_pair);
  void sate(Task& queue_pair);
  bool is_empty() const { return queue_->is_empty(); }

 private:
  void run_with_baton() override;
  bool starve(Task& queue_pair);
  void look_at_limit_with_baton();

  // Fixed after construction.
  Engine& engine_;
  const MemoryView memory_;
  const std::uint32_t max_capacity_;
  const std::uint32_t max_segments_;
  hca::ReceiveAccounts& accounts_;
  const hca::ReceiveAccounts::Number account_;
  hca::SharedReceiveQueueSink* const sink_;
  Share share_;  // set by the maker, as is the next
  bool has_resize_ = true;

  // Guards the posting side of *queue_; taken after the baton.
  mutable base::Ordered<base::SpinLock, locks::kPostShared> post_mutex_;
  // Changed with the baton and post_mutex_, read with either.
  std::unique_ptr<WorkQueue<RecvEntry>> queue_;
  std::uint32_t capacity_;
  std::uint32_t high_water_ = 0;  // guarded by post_mutex_
  RegionCache regions_;           // guarded by post_mutex_
  // Owned by the baton.
  std::uint32_t limit_ = 0;
  std::size_t users_ = 0;
  std::vector<Task*> starving_;  // longest first; has room for all users
  // Written with the baton and post_mutex_, read with either.
  bool is_starved_ = false;
};

}  // namespace softdat::simnic
