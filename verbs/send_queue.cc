// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/send_queue.h"

#include <algorithm>
#include <cerrno>

#include "base/assert.h"
#include "hca/request_rules.h"
#include "verbs/memory_region.h"
#include "verbs/scatter_list.h"

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
      // One field is the value to add or to compare with, by the opcode (ibv_post_send(3)).
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

SendQueue::SendQueue(const WorkQueueParts& parts) : WorkQueue(parts, false) {
  usual_work_.sg_list = &usual_segment_;
  usual_work_.num_sge = 1;
}

// All that does not depend on what else is posted.
hca::Outcome SendQueue::check(const hca::SendRequest& request, std::uint64_t length) const {
  if (!hca::is_well_formed(request, length) || request.local.size() > std::min(limits_.send_sge, kMostSegments)) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  // Some drivers refuse an address that is not aligned, and do not say why.
  if (hca::is_atomic(request.opcode) && request.remote_address % sizeof(std::uint64_t) != 0) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  if (!is_device_able(request.opcode, device_.traits)) return hca::fail(hca::Error::kUnsupported);
  base::check(length <= UINT32_MAX, "a well-formed request has a length of 32 bits", length);
  if (!hca::awaits_response(request.opcode)) return hca::Done{};
  // Reads and atomics from here on. Without ORD the device would hold the request back for ever.
  if (request.local.size() > device_.traits.max_read_sge) return hca::fail(hca::Error::kInvalidArgument);
  if (limits_.ord == 0) return hca::fail(hca::Error::kLimitReached);
  return hca::Done{};
}

// Not inline: keeps post() small.
[[gnu::noinline]] hca::Outcome SendQueue::post_any_locked(const hca::SendRequest& request, QueuePairState now) {
  base::require_lock(locks::kVerbsPostSend);
  if (!hca::takes_sends(now)) return hca::fail(hca::Error::kInvalidState);
  const std::uint64_t length = hca::total_length(request.local);
  if (const hca::Outcome fit = check(request, length); !fit) return fit;
  make_room();
  if (ring_.is_full()) return hca::fail(hca::Error::kLimitReached);
  WorkEntry& entry = next_entry_locked(request, static_cast<std::uint32_t>(length));
  entry.opcode = hca::completion_opcode(request.opcode);
  // After an error the request goes to no device: it is flushed here (commit_unposted()).
  entry.is_with_device = now == QueuePairState::kConnected;
  if (request.opcode == SendOpcode::kReadToWindow) return read_to_window_locked(request, entry);
  return hand_over_locked(request, entry);
}

// A device reads into a region by its local key; a window has none.
hca::Outcome SendQueue::read_to_window_locked(const hca::SendRequest& request, WorkEntry& entry) {
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

hca::Outcome SendQueue::hand_over_locked(const hca::SendRequest& request, WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  const hca::AccessMask rights = hca::written_right(request.opcode);
  // First, so that a refused request has reserved no slot.
  if (const hca::Outcome fit = device_.memory.check(request.local, rights, domain_id_, last_grant_); !fit) return fit;
  if (!entry.is_with_device) {
    commit_unposted(entry);
    return hca::Done{};
  }
  if (!count(entry)) return hca::fail(hca::Error::kLimitReached);
  return post_to_device_locked(request, entry);
}

hca::Outcome SendQueue::post_to_device_locked(const hca::SendRequest& request, WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  ScatterList list(request.local);
  // Fields that this opcode does not use keep values of earlier posts.
  ibv_send_wr& work = send_work_;  // fill_remote() sets what the device reads for this opcode
  work.wr_id = reinterpret_cast<std::uintptr_t>(&entry);
  work.sg_list = list.data();
  work.num_sge = list.size();
  work.opcode = opcode_of(request.opcode);
  work.send_flags = IBV_SEND_SIGNALED;
  if ((request.flags & hca::kSolicited) != 0) work.send_flags |= IBV_SEND_SOLICITED;
  if ((request.flags & hca::kFence) != 0) work.send_flags |= IBV_SEND_FENCE;
  // Inline data is copied during the post. A response has nowhere to be copied from.
  const bool is_inline = !hca::awaits_response(request.opcode) && entry.length != 0 &&
                         entry.length <= device_pair_.max_inline() && work.num_sge == 1;
  if (is_inline) work.send_flags |= IBV_SEND_INLINE;
  fill_remote(request, work);
  return give_to_device_locked(work, entry, transfer_of(request.opcode));
}

}  // namespace softdat::verbs
