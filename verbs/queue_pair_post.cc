// SPDX-License-Identifier: BSD-2-Clause
// The consumer's way in. What a device would only notice later is looked at first.
#include <algorithm>
#include <cerrno>

#include "base/assert.h"
#include "base/call.h"
#include "base/uncancelled.h"
#include "hca/request_rules.h"
#include "verbs/completion_queue.h"
#include "verbs/memory_region.h"
#include "verbs/queue_pair.h"
#include "verbs/scatter_list.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

using hca::QueuePairState;
using hca::SendOpcode;

bool is_device_able(SendOpcode opcode, const Traits& traits) {
  switch (opcode) {
    case SendOpcode::kSend:
    case SendOpcode::kWrite:
    case SendOpcode::kRead:
    case SendOpcode::kReadToWindow:
    case SendOpcode::kBind:
      return true;
    case SendOpcode::kSendInvalidate:
      return traits.has_invalidate;
    case SendOpcode::kWriteWithImmediate:
      return traits.has_immediate;
    case SendOpcode::kFetchAdd:
    case SendOpcode::kCompareSwap:
      return traits.has_atomics;
  }
  return false;
}

ibv_wr_opcode opcode_of(SendOpcode opcode) {
  switch (opcode) {
    case SendOpcode::kSend:
    case SendOpcode::kBind:  // has a way of its own
      return IBV_WR_SEND;
    case SendOpcode::kWrite:
      return IBV_WR_RDMA_WRITE;
    case SendOpcode::kRead:
    case SendOpcode::kReadToWindow:
      return IBV_WR_RDMA_READ;
    case SendOpcode::kSendInvalidate:
      return IBV_WR_SEND_WITH_INV;
    case SendOpcode::kWriteWithImmediate:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case SendOpcode::kFetchAdd:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
    case SendOpcode::kCompareSwap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
  }
  return IBV_WR_SEND;
}

void fill_remote(const hca::SendRequest& request, ibv_send_wr& work) {
  switch (request.opcode) {
    case SendOpcode::kSendInvalidate:
      work.invalidate_rkey = request.rkey;
      return;
    case SendOpcode::kFetchAdd:
    case SendOpcode::kCompareSwap: {
      const bool is_swap = request.opcode == SendOpcode::kCompareSwap;
      work.wr.atomic = {.remote_addr = request.remote_address,
                        .compare_add = is_swap ? request.compare : request.operand,
                        .swap = is_swap ? request.operand : 0,
                        .rkey = request.rkey};
      return;
    }
    case SendOpcode::kWriteWithImmediate:
      work.imm_data = htobe32(request.immediate);
      break;
    default:
      break;
  }
  work.wr.rdma = {.remote_addr = request.remote_address, .rkey = request.rkey};
}

}  // namespace

// All that does not depend on what else is posted.
hca::Outcome QueuePair::check_send(const hca::SendRequest& request, std::uint32_t& length) const {
  const std::uint64_t total = hca::total_length(request.local);
  if (!hca::is_well_formed(request, total) || request.local.size() > std::min(limits_.send_sge, kMostSegments)) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  // Some drivers refuse an address that is not aligned, and say nothing of why.
  if (hca::is_atomic(request.opcode) && request.remote_address % sizeof(std::uint64_t) != 0) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if (!is_device_able(request.opcode, device_.traits)) return hca::fail(hca::Error::kUnsupported);
  base::check(total <= UINT32_MAX, "a well-formed request has a length of 32 bits", total);
  length = static_cast<std::uint32_t>(total);
  if (!hca::awaits_response(request.opcode)) return hca::Done{};
  if (request.local.size() > device_.traits.max_read_sge) return hca::fail(hca::Error::kInvalidArgument);
  if (limits_.ord == 0) return hca::fail(hca::Error::kLimitReached);
  return hca::Done{};
}

// Of one piece: on emulated processors, and on those that have much else to do, calls and returns are what costs.
[[gnu::flatten]] hca::Outcome QueuePair::post_send(const hca::SendRequest& request) {
  // reset() changes the state under this lock, so nothing slips into a new life.
  const std::lock_guard lock(send_mutex_);
  const QueuePairState now = state();
  if (now == QueuePairState::kConnected && is_usual_locked(request)) [[likely]]
    return post_usual_locked(request);
  return post_any_locked(request, now);
}

// What nearly every request is, so that it passes all the looks that the others need: a send or write of one segment,
// in the region that was used last, while there is room, and whose completion is wanted.
inline bool QueuePair::is_usual_locked(const hca::SendRequest& request) const {
  base::require_lock(locks::kVerbsPostSend);
  const bool is_plain = (request.opcode == SendOpcode::kSend || request.opcode == SendOpcode::kWrite) &&
                        request.flags == hca::kSignaled && request.local.size() == 1 && limits_.send_sge != 0;
  return is_plain && !sends_.is_full() && device_.memory.remembers(request.local.front(), domain_id_, last_send_);
}

inline hca::Outcome QueuePair::post_usual_locked(const hca::SendRequest& request) {
  base::require_lock(locks::kVerbsPostSend);
  const hca::Segment& segment = request.local.front();
  const bool is_send = request.opcode == SendOpcode::kSend;
  WorkEntry& entry = next_entry(request, segment.length);
  entry.opcode = is_send ? hca::CompletionOpcode::kSend : hca::CompletionOpcode::kWrite;
  entry.is_with_device = true;
  entry.is_counted = false;
  entry.is_usual = true;
  usual_segment_ = {segment.address, segment.length, segment.lkey};
  ibv_send_wr& work = usual_work_;
  work.wr_id = reinterpret_cast<std::uintptr_t>(&entry);
  work.opcode = is_send ? IBV_WR_SEND : IBV_WR_RDMA_WRITE;
  work.send_flags = segment.length <= max_inline_ ? IBV_SEND_SIGNALED | IBV_SEND_INLINE : IBV_SEND_SIGNALED;
  work.wr.rdma.remote_addr = request.remote_address;
  work.wr.rdma.rkey = request.rkey;
  return give_to_device_locked(work, entry, is_send ? hca::Transfer::kPostSend : hca::Transfer::kPostWrite);
}

[[gnu::noinline]] hca::Outcome QueuePair::post_any_locked(const hca::SendRequest& request, QueuePairState now) {
  if (!hca::takes_sends(now)) return hca::fail(hca::Error::kInvalidState);
  std::uint32_t length = 0;
  if (const hca::Outcome fit = check_send(request, length); !fit) return fit;
  make_room_locked();
  if (sends_.is_full()) return hca::fail(hca::Error::kLimitReached);
  WorkEntry& entry = next_entry(request, length);
  entry.opcode = hca::completion_opcode(request.opcode);
  entry.is_with_device = now == QueuePairState::kConnected;
  if (request.opcode == SendOpcode::kReadToWindow) return read_to_window_locked(request, entry);
  return hand_over_locked(request, entry);
}

inline WorkEntry& QueuePair::next_entry(const hca::SendRequest& request, std::uint32_t length) {
  WorkEntry& entry = sends_.next();
  entry.queue_pair = this;
  entry.cookie = request.wr_id;
  entry.length = length;
  entry.flags = request.flags;
  entry.is_receive = false;
  if (WorkNote* const note = sends_.note_of(entry)) [[unlikely]]
    *note = {base::calling_place(), request.remote_address, request.rkey};
  return entry;
}

// A device reads into what it knows by a local key; a window has none.
hca::Outcome QueuePair::read_to_window_locked(const hca::SendRequest& request, WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  if (request.local.size() != 1) return hca::fail(hca::Error::kInvalidArgument);
  const auto grant = device_.memory.find_remote(request.local.front().lkey);
  if (!grant) return hca::fail(hca::Error::kUnsupported);
  if ((grant->access & hca::kRemoteWrite) == 0) return hca::fail(hca::Error::kMissingRight);
  hca::Segment sink = request.local.front();
  sink.lkey = grant->lkey;
  hca::SendRequest read = request;
  read.local = {&sink, 1};
  return hand_over_locked(read, entry);
}

// Every request is signaled to us, wanted or not: so our record is exact, and the device's queue never
// fills up with what it does not tell of.
void QueuePair::make_room_locked() {
  base::require_lock(locks::kVerbsPostSend);
  if (sends_.is_full()) send_queue_.drain();
}

bool QueuePair::count_locked(WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  entry.is_counted = (entry.flags & hca::kSignaled) == 0 && send_queue_.count_unwanted();
  return entry.is_counted || (entry.flags & hca::kSignaled) != 0;
}

// The device has not taken it.
void QueuePair::retract_locked(WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  sends_.retract();
  if (entry.is_counted) discount(entry);
}

void QueuePair::discount(WorkEntry& entry) {
  entry.is_counted = false;
  send_queue_.discount_unwanted();
}

hca::Outcome QueuePair::hand_over_locked(const hca::SendRequest& request, WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  const hca::AccessMask rights = hca::written_right(request.opcode);
  if (const hca::Outcome fit = device_.memory.check(request.local, rights, domain_id_, last_send_); !fit) return fit;
  if (entry.is_with_device) {
    if (!count_locked(entry)) return hca::fail(hca::Error::kLimitReached);
    return post_to_device_locked(request, entry);
  }
  sends_.commit(entry);
  if (is_flushed_) flush_ring_locked(sends_, send_queue_);
  return hca::Done{};
}

hca::Outcome QueuePair::post_to_device_locked(const hca::SendRequest& request, WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  ScatterList list(request.local);
  ibv_send_wr& work = send_work_;  // fill_remote() sets what its opcode makes the device look at
  work.wr_id = reinterpret_cast<std::uintptr_t>(&entry);
  work.sg_list = list.data();
  work.num_sge = list.size();
  work.opcode = opcode_of(request.opcode);
  work.send_flags = IBV_SEND_SIGNALED;
  if ((request.flags & hca::kSolicited) != 0) work.send_flags |= IBV_SEND_SOLICITED;
  if ((request.flags & hca::kFence) != 0) work.send_flags |= IBV_SEND_FENCE;
  const bool is_inline =
      !hca::awaits_response(request.opcode) && entry.length != 0 && entry.length <= max_inline_ && work.num_sge == 1;
  if (is_inline) work.send_flags |= IBV_SEND_INLINE;
  fill_remote(request, work);
  return give_to_device_locked(work, entry, transfer_of(request.opcode));
}

// The entry counts before the device has it, whose completion somebody may take at once.
inline hca::Outcome QueuePair::give_to_device_locked(ibv_send_wr& work, WorkEntry& entry, hca::Transfer transfer) {
  base::require_lock(locks::kVerbsPostSend);
  sends_.commit(entry);
  ibv_send_wr* bad = nullptr;
  const base::Uncancelled guard;
  const int error = ibv_post_send(qp_, &work, &bad);
  // siw says so of a connection that is ending right now, but has taken the request and will flush it.
  if (error != 0 && !is_disconnected(error)) [[unlikely]] {
    retract_locked(entry);
    return hca::fail(error == ENOMEM ? hca::Error::kLimitReached : error_of(error));
  }
  counters_.add(transfer, entry.length);
  return hca::Done{};
}

[[gnu::flatten]] hca::Outcome QueuePair::post_recv(const hca::RecvRequest& request) {
  if (shared_ != nullptr) return hca::fail(hca::Error::kInvalidState);
  const std::uint64_t length = hca::total_length(request.local);
  if (!hca::is_well_formed(request, length) || request.local.size() > limits_.recv_sge) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  {
    const std::lock_guard lock(recv_mutex_);
    if (is_retired()) return hca::fail(hca::Error::kInvalidState);
    if (recvs_.is_full()) recv_queue_.drain();
    if (recvs_.outstanding() >= limits_.recv_wr) return hca::fail(hca::Error::kLimitReached);
    const hca::Outcome fit = device_.memory.check(request.local, hca::kLocalWrite, domain_id_, last_recv_);
    if (!fit) return fit;
    const hca::Outcome posted = post_recv_locked(request, static_cast<std::uint32_t>(length));
    if (!posted) return posted;
    counters_.add(hca::Transfer::kPostRecv, length);
  }
  look_at_recv_limits();
  return hca::Done{};
}

void QueuePair::remember_segments(const WorkEntry& entry, std::span<const hca::Segment> segments) {
  const std::size_t index = recvs_.place_of(entry);
  SOFTDAT_DEBUG_CHECK(segments.size() <= limits_.recv_sge && index < recv_counts_.size(),
                      "a receive has a place for its segments", segments.size(), index);
  const auto place = recv_segments_.begin() + static_cast<std::ptrdiff_t>(index * limits_.recv_sge);
  std::copy(segments.begin(), segments.end(), place);
  recv_counts_[index] = static_cast<std::uint16_t>(segments.size());
}

hca::Outcome QueuePair::post_recv_locked(const hca::RecvRequest& request, std::uint32_t length) {
  base::require_lock(locks::kVerbsPostReceive);
  WorkEntry& entry = recvs_.next();
  entry.queue_pair = this;
  entry.cookie = request.wr_id;
  entry.length = length;
  entry.flags = request.flags;
  entry.opcode = hca::CompletionOpcode::kRecv;
  entry.is_receive = true;
  entry.is_with_device = state() != QueuePairState::kError;
  entry.is_usual = request.flags == 0;
  if (WorkNote* const note = recvs_.note_of(entry)) [[unlikely]]
    note->posted = base::calling_place();
  remember_segments(entry, request.local);
  recvs_.commit(entry, std::memory_order_seq_cst);  // before the look at the limits
  if (!entry.is_with_device) {
    if (is_flushed_) flush_ring_locked(recvs_, recv_queue_);
    return hca::Done{};
  }
  ScatterList list(request.local);
  ibv_recv_wr work{.wr_id = reinterpret_cast<std::uintptr_t>(&entry),
                   .next = nullptr,
                   .sg_list = list.data(),
                   .num_sge = list.size()};
  ibv_recv_wr* bad = nullptr;
  const base::Uncancelled guard;
  int error = ibv_post_recv(qp_, &work, &bad);
  if (is_refused(error) && list.give_empty_segment(work)) error = ibv_post_recv(qp_, &work, &bad);
  if (error == 0) [[likely]]
    return hca::Done{};
  recvs_.retract();
  return hca::fail(error == ENOMEM ? hca::Error::kLimitReached : error_of(error));
}

void QueuePair::set_recv_limits(std::uint32_t soft, std::uint32_t hard) {
  soft_limit_.store(soft, std::memory_order_seq_cst);
  hard_limit_.store(hard, std::memory_order_seq_cst);
  look_at_recv_limits();
}

// The event thread tells, and counts again.
void QueuePair::look_at_recv_limits() {
  const std::uint32_t alarm =
      std::min(soft_limit_.load(std::memory_order_seq_cst), hard_limit_.load(std::memory_order_seq_cst));
  if (alarm != hca::kNoRecvLimit && recvs_outstanding() > alarm) device_.events.post(*this);
}

// Both idle, so the devices' queue pairs have taken none of them. One that does not match the new domain fails when it
// is used.
hca::Outcome QueuePair::inherit_recvs(hca::QueuePair& other) {
  auto& from = static_cast<QueuePair&>(other);
  const std::scoped_lock lock(mutex_, from.mutex_, from.send_mutex_, recv_mutex_, from.recv_mutex_);
  const bool are_idle = state() == QueuePairState::kIdle && from.state() == QueuePairState::kIdle;
  if (!are_idle || is_retired() || from.is_retired() || shared_ != nullptr || from.shared_ != nullptr) {
    return hca::fail(hca::Error::kInvalidState);
  }
  const std::uint32_t count = from.recvs_.outstanding();
  if (count > limits_.recv_wr - recvs_.outstanding()) return hca::fail(hca::Error::kLimitReached);
  for (std::uint32_t i = 0; i < count; ++i) {
    const WorkEntry& entry = from.recvs_.at(i);
    const std::size_t index = from.recvs_.place_of(entry);
    const hca::Segment* const segments = from.recv_segments_.data() + index * from.limits_.recv_sge;
    const hca::Outcome posted = post_recv_locked(
        {.wr_id = entry.cookie, .flags = entry.flags, .local = {segments, from.recv_counts_[index]}}, entry.length);
    if (!posted) return hca::fail(hca::Error::kLimitReached);
  }
  from.is_retired_.store(true, std::memory_order_seq_cst);
  from.destroy_device_queue_pair(&from);
  return hca::Done{};
}

}  // namespace softdat::verbs
