// SPDX-License-Identifier: BSD-2-Clause
// SendQueue: the sends, writes, reads, atomics and binds of a queue pair, from the consumer's post to the device.
// Checks what a device would notice only later, and then by breaking the connection.
//
// Threads: post() and bind() run on any thread. Lock order: mutex(), then those of windows, completion queues and the
// memory table. A thread that holds mutex() changes the queue pair's state with no post under way.
// Errors: as hca::QueuePair::post_send() and post_bind(). A refused request leaves nothing behind.
#pragma once

#include <mutex>

#include "base/call.h"
#include "base/lock_order.h"
#include "base/uncancelled.h"
#include "verbs/lock_places.h"
#include "verbs/status.h"
#include "verbs/work_queue.h"

namespace softdat::verbs {

class SendQueue final : public WorkQueue {
 public:
  using Mutex = base::Mutex<locks::kVerbsPostSend>;

  // Throws std::bad_alloc.
  explicit SendQueue(const WorkQueueParts& parts);

  Mutex& mutex() { return mutex_; }

  hca::Outcome post(const hca::SendRequest& request);
  hca::Result<std::uint32_t> bind(const hca::BindRequest& request);

 private:
  // Fast path: a signaled send or write of one segment within the region that was used last, while there is room. (A
  // queue pair without segments remembers no region.)
  bool is_usual_locked(const hca::SendRequest& request) const;
  hca::Outcome post_usual_locked(const hca::SendRequest& request);

  hca::Outcome post_any_locked(const hca::SendRequest& request, hca::QueuePairState now);
  hca::Outcome check(const hca::SendRequest& request, std::uint64_t length) const;
  WorkEntry& next_entry_locked(const hca::SendRequest& request, std::uint32_t length);
  hca::Outcome read_to_window_locked(const hca::SendRequest& request, WorkEntry& entry);
  hca::Outcome hand_over_locked(const hca::SendRequest& request, WorkEntry& entry);
  hca::Outcome post_to_device_locked(const hca::SendRequest& request, WorkEntry& entry);
  hca::Outcome give_to_device_locked(ibv_send_wr& work, WorkEntry& entry, hca::Transfer transfer);

  // Binds; `mr` is null for an unbind.
  hca::Result<std::uint32_t> bind_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr);
  int bind_on_device_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr, const WorkEntry& entry);
  hca::Outcome invalidate_locked(std::uint32_t rkey);

  Mutex mutex_;
  // Guarded by mutex_.
  ibv_sge usual_segment_{};
  ibv_send_wr usual_work_{};  // of the fast path, filled but for what changes; refers to usual_segment_
  ibv_send_wr send_work_{};   // of all other posts
};

// Inline, because every send passes through them.
inline hca::Outcome SendQueue::post(const hca::SendRequest& request) {
  // reset() changes the state under this lock, so no request slips into the next connection.
  const std::lock_guard lock(mutex_);
  const hca::QueuePairState now = state();
  if (now == hca::QueuePairState::kConnected && is_usual_locked(request)) [[likely]]
    return post_usual_locked(request);
  return post_any_locked(request, now);
}

inline bool SendQueue::is_usual_locked(const hca::SendRequest& request) const {
  base::require_lock(locks::kVerbsPostSend);
  const bool is_plain = (request.opcode == hca::SendOpcode::kSend || request.opcode == hca::SendOpcode::kWrite) &&
                        request.flags == hca::kSignaled && request.local.size() == 1;
  return is_plain && !ring_.is_full() && device_.memory.remembers(request.local.front(), domain_id_, last_grant_);
}

inline hca::Outcome SendQueue::post_usual_locked(const hca::SendRequest& request) {
  base::require_lock(locks::kVerbsPostSend);
  const hca::Segment& segment = request.local.front();
  const bool is_send = request.opcode == hca::SendOpcode::kSend;
  WorkEntry& entry = next_entry_locked(request, segment.length);
  entry.opcode = is_send ? hca::CompletionOpcode::kSend : hca::CompletionOpcode::kWrite;
  entry.is_with_device = true;
  entry.is_usual = true;
  usual_segment_ = {segment.address, segment.length, segment.lkey};
  ibv_send_wr& work = usual_work_;
  work.wr_id = reinterpret_cast<std::uintptr_t>(&entry);
  work.opcode = is_send ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
  const bool is_inline = segment.length <= device_pair_.max_inline();
  work.send_flags = is_inline ? IBV_SEND_SIGNALED | IBV_SEND_INLINE : IBV_SEND_SIGNALED;
  work.wr.rdma.remote_addr = request.remote_address;
  work.wr.rdma.rkey = request.rkey;
  return give_to_device_locked(work, entry, is_send ? hca::Transfer::kPostSend : hca::Transfer::kPostWrite);
}

inline WorkEntry& SendQueue::next_entry_locked(const hca::SendRequest& request, std::uint32_t length) {
  base::require_lock(locks::kVerbsPostSend);
  WorkEntry& entry = ring_.next();
  entry.cookie = request.wr_id;
  entry.length = length;
  entry.flags = request.flags;
  if (WorkNote* const note = ring_.note_of(entry)) [[unlikely]]
    *note = {base::calling_place(), request.remote_address, request.rkey};
  return entry;
}

// Commits before the device has the request: another thread may take its completion at once.
inline hca::Outcome SendQueue::give_to_device_locked(ibv_send_wr& work, WorkEntry& entry, hca::Transfer transfer) {
  base::require_lock(locks::kVerbsPostSend);
  ring_.commit(entry);
  ibv_send_wr* bad = nullptr;
  const base::Uncancelled guard;
  const int error = ibv_post_send(device_pair_.get(), &work, &bad);
  // siw reports a disconnect while a connection ends, but has taken the request and will flush it.
  if (error != 0 && !is_disconnected(error)) [[unlikely]] {
    retract(entry);
    return hca::fail(error == ENOMEM ? hca::Error::kLimitReached : error_of(error));
  }
  counters_.add(transfer, entry.length);
  return hca::Done{};
}

}  // namespace softdat::verbs
