// SPDX-License-Identifier: BSD-2-Clause
// ReceiveQueue: the receives of a queue pair without an SRQ, from the consumer's post to the device; and the limits of
// how many may be outstanding. With an SRQ it stays empty.
//
// Threads: any, but for functions that end in _locked. Lock order: mutex(), then those of completion queues and the
// memory table. The mutex of a send queue comes before mutex().
#pragma once

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <span>
#include <vector>

#include "base/assert.h"
#include "base/call.h"
#include "base/lock_order.h"
#include "base/uncancelled.h"
#include "hca/request_rules.h"
#include "verbs/lock_places.h"
#include "verbs/scatter_list.h"
#include "verbs/status.h"
#include "verbs/work_queue.h"

namespace softdat::verbs {

class ReceiveQueue final : public WorkQueue {
 public:
  using Mutex = base::Mutex<locks::kVerbsPostReceive>;

  // Throws std::bad_alloc.
  explicit ReceiveQueue(const WorkQueueParts& parts);

  Mutex& mutex() { return mutex_; }

  // Errors as hca::QueuePair::post_recv().
  hca::Outcome post(const hca::RecvRequest& request);

  // Posts the receives of `from` here, in their order, and retires it: it takes none any more. REQUIRES both mutexes,
  // and idle queue pairs. Fails with kInvalidState (one is retired or has an SRQ) or kLimitReached. A receive that does
  // not match the new domain fails when it is used.
  hca::Outcome inherit_locked(ReceiveQueue& from);
  // It takes no receive any more. kInvalidState: it has some, or is retired. REQUIRES mutex().
  hca::Outcome retire_locked();
  bool is_retired() const { return is_retired_.load(std::memory_order_seq_cst); }

  // See hca::QueuePair::set_recv_limits(). After a post or a change, is_over_a_limit() tells whether there is something
  // to report; the event thread counts again.
  void set_limits(std::uint32_t soft, std::uint32_t hard);
  bool is_over_a_limit() const;
  bool is_over_hard_limit() const;
  // True once for each soft limit that was set.
  bool take_soft_limit();

 private:
  hca::Outcome post_locked(const hca::RecvRequest& request, std::uint32_t length);
  void remember_segments_locked(const WorkEntry& entry, std::span<const hca::Segment> segments);

  const bool has_srq_;
  std::atomic<bool> is_retired_{false};  // set under mutex_
  std::atomic<std::uint32_t> soft_limit_{hca::kNoRecvLimit};
  std::atomic<std::uint32_t> hard_limit_{hca::kNoRecvLimit};

  Mutex mutex_;
  // Guarded by mutex_.
  std::vector<hca::Segment> segments_;  // limits_.recv_sge for each place of the ring, for inherit_locked()
  std::vector<std::uint16_t> segment_counts_;
};

// Inline, because every receive passes through them.
inline hca::Outcome ReceiveQueue::post(const hca::RecvRequest& request) {
  if (has_srq_) return hca::fail(hca::Error::kInvalidState);
  const std::uint64_t length = hca::total_length(request.local);
  if (!hca::is_well_formed(request, length) || request.local.size() > limits_.recv_sge) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  const std::lock_guard lock(mutex_);
  if (is_retired()) return hca::fail(hca::Error::kInvalidState);
  make_room();
  if (ring_.outstanding() >= limits_.recv_wr) return hca::fail(hca::Error::kLimitReached);
  const hca::Outcome fit = device_.memory.check(request.local, hca::kLocalWrite, domain_id_, last_grant_);
  if (!fit) return fit;
  const hca::Outcome posted = post_locked(request, static_cast<std::uint32_t>(length));
  if (!posted) return posted;
  counters_.add(hca::Transfer::kPostRecv, length);
  return hca::Done{};
}

inline hca::Outcome ReceiveQueue::post_locked(const hca::RecvRequest& request, std::uint32_t length) {
  base::require_lock(locks::kVerbsPostReceive);
  WorkEntry& entry = ring_.next();
  entry.cookie = request.wr_id;
  entry.length = length;
  entry.flags = request.flags;
  entry.opcode = hca::CompletionOpcode::kRecv;
  entry.is_with_device = state() != hca::QueuePairState::kError;
  entry.is_usual = request.flags == 0;
  if (WorkNote* const note = ring_.note_of(entry)) [[unlikely]]
    note->posted = base::calling_place();
  remember_segments_locked(entry, request.local);
  if (!entry.is_with_device) {
    commit_unposted(entry);
    return hca::Done{};
  }
  ring_.commit(entry, std::memory_order_seq_cst);  // before the limits are read
  ScatterList list(request.local);
  ibv_recv_wr work{.wr_id = reinterpret_cast<std::uintptr_t>(&entry),
                   .next = nullptr,
                   .sg_list = list.data(),
                   .num_sge = list.size()};
  ibv_recv_wr* bad = nullptr;
  const base::Uncancelled guard;
  int error = ibv_post_recv(device_pair_.get(), &work, &bad);
  if (is_refused(error) && list.give_empty_segment(work)) error = ibv_post_recv(device_pair_.get(), &work, &bad);
  if (error == 0) [[likely]]
    return hca::Done{};
  ring_.retract();
  return hca::fail(error == ENOMEM ? hca::Error::kLimitReached : error_of(error));
}

inline void ReceiveQueue::remember_segments_locked(const WorkEntry& entry, std::span<const hca::Segment> segments) {
  base::require_lock(locks::kVerbsPostReceive);
  const std::size_t index = ring_.place_of(entry);
  SOFTDAT_DEBUG_CHECK(segments.size() <= limits_.recv_sge && index < segment_counts_.size(),
                      "a receive has a place for its segments", segments.size(), index);
  const auto place = segments_.begin() + static_cast<std::ptrdiff_t>(index * limits_.recv_sge);
  std::copy(segments.begin(), segments.end(), place);
  segment_counts_[index] = static_cast<std::uint16_t>(segments.size());
}

inline bool ReceiveQueue::is_over_a_limit() const {
  const std::uint32_t lower =
      std::min(soft_limit_.load(std::memory_order_seq_cst), hard_limit_.load(std::memory_order_seq_cst));
  return lower != hca::kNoRecvLimit && outstanding() > lower;
}

}  // namespace softdat::verbs
