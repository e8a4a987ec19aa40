// SPDX-License-Identifier: BSD-2-Clause
// Binds, which travel among the sends.
#include <cerrno>

#include "base/uncancelled.h"
#include "hca/request_rules.h"
#include "verbs/completion_queue.h"
#include "verbs/memory_region.h"
#include "verbs/memory_window.h"
#include "verbs/queue_pair.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

using hca::QueuePairState;

unsigned device_rights(hca::AccessMask access) {
  unsigned result = 0;
  if ((access & hca::kRemoteRead) != 0) result |= IBV_ACCESS_REMOTE_READ;
  if ((access & hca::kRemoteWrite) != 0) result |= IBV_ACCESS_REMOTE_WRITE;
  if ((access & hca::kRemoteAtomic) != 0) result |= IBV_ACCESS_REMOTE_ATOMIC;
  if ((access & hca::kZeroBased) != 0) result |= IBV_ACCESS_ZERO_BASED;
  return result;
}

hca::Outcome check_region(const MemoryGrant& grant, const hca::BindRequest& request, std::uint32_t domain) {
  if (grant.domain != domain) return hca::fail(hca::Error::kWrongDomain);
  const bool is_change = (request.access & (hca::kRemoteWrite | hca::kRemoteAtomic)) != 0;
  const hca::AccessMask needed = is_change ? hca::AccessMask{hca::kLocalWrite} : hca::AccessMask{hca::kBindRemoteRead};
  if ((grant.access & needed) == 0) return hca::fail(hca::Error::kMissingRight);
  if (!holds(grant, request.address, request.length)) return hca::fail(hca::Error::kOutOfRange);
  return hca::Done{};
}

hca::WindowBinding binding_of(const hca::BindRequest& request, std::uint32_t key) {
  if (request.length == 0) return {.note = request.note};
  return {.rkey = key,
          .lkey = request.lkey,
          .address = request.address,
          .length = request.length,
          .is_zero_based = (request.access & hca::kZeroBased) != 0,
          .note = request.note};
}

unsigned device_flags(std::uint32_t flags) {
  return IBV_SEND_SIGNALED | ((flags & hca::kFence) != 0 ? unsigned{IBV_SEND_FENCE} : 0u);
}

}  // namespace

hca::Result<std::uint32_t> QueuePair::post_bind(const hca::BindRequest& request) {
  if (!hca::takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
  if (!device_.traits.has_windows) return hca::fail(hca::Error::kUnsupported);
  if (!hca::is_well_formed(request)) return hca::fail(hca::Error::kInvalidArgument);
  auto& window = static_cast<MemoryWindow&>(*request.window);
  if (window.domain() != domain_.id()) return hca::fail(hca::Error::kWrongDomain);
  if (request.length == 0) return bind_to(nullptr, request, window);
  const auto grant = device_.memory.retain(request.lkey);
  if (!grant) return hca::fail(hca::Error::kBadKey);
  const hca::Outcome fit = check_region(*grant, request, domain_.id());
  const auto key = fit ? bind_to(grant->mr, request, window) : hca::fail(fit.reason());
  if (!key) device_.memory.release(request.lkey);
  return key;
}

hca::Result<std::uint32_t> QueuePair::bind_to(ibv_mr* mr, const hca::BindRequest& request, MemoryWindow& window) {
  // Devices count from 0 in windows of one queue pair only.
  if ((request.access & hca::kZeroBased) != 0 && !window.is_narrow()) return hca::fail(hca::Error::kUnsupported);
  const std::lock_guard lock(send_mutex_);
  if (!hca::takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
  make_room_locked();
  return bind_locked(request, window, mr);
}

hca::Result<std::uint32_t> QueuePair::bind_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr) {
  base::require_lock(locks::kVerbsPostSend);
  const base::Uncancelled guard;
  const std::lock_guard lock(window.mutex());
  const bool is_with_device = state() == QueuePairState::kConnected;
  if (window.state()->was_voided(window.posted_key)) window.posted_key = 0;
  const bool must_void = window.is_narrow() && window.posted_key != 0 && is_with_device;
  if (must_void && window.posted_on != qp_->qp_num) return hca::fail(hca::Error::kPermission);
  if (sends_.outstanding() + (must_void ? 2 : 1) > limits_.send_wr) return hca::fail(hca::Error::kLimitReached);
  const bool is_counted = is_with_device && (request.flags & hca::kSignaled) == 0;
  if (is_counted && !send_queue_.count_unwanted()) return hca::fail(hca::Error::kLimitReached);
  // A window of type 2 has to be freed before it is bound again.
  if (must_void) {
    if (const hca::Outcome voided = void_key_locked(window.posted_key); !voided) {
      if (is_counted) send_queue_.discount_unwanted();
      return hca::fail(voided.reason());
    }
    window.posted_key = 0;
  }
  WorkEntry& entry = sends_.next();
  entry.queue_pair = this;
  entry.cookie = request.wr_id;
  entry.length = 0;
  entry.flags = request.flags;
  entry.opcode = hca::CompletionOpcode::kBind;
  entry.is_receive = false;
  entry.is_with_device = is_with_device;
  entry.is_counted = is_counted;
  entry.window = window.state();
  std::uint32_t key = ibv_inc_rkey(window.mw()->rkey);
  auto hold = window.state()->hold();
  if (is_with_device) {
    sends_.commit(entry);
    const int error = window.is_narrow() ? bind_narrow_locked(request, window, mr, entry)
                                         : bind_wide_locked(request, window, mr, entry);
    if (error != 0) {
      retract_locked(entry);
      entry.window.reset();
      return hca::fail(error_of(error));
    }
    if (!window.is_narrow()) key = window.mw()->rkey;
    window.posted_key = request.length == 0 ? 0 : key;
    window.posted_on = qp_->qp_num;
  }
  entry.binding = binding_of(request, key);
  hold.unlock();
  if (!is_with_device) {
    sends_.commit(entry);
    if (is_flushed_) flush_ring_locked(sends_, send_queue_);
  }
  return request.length == 0 ? 0 : key;
}

int QueuePair::bind_wide_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr,
                                const WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  ibv_mw_bind bind{};
  bind.wr_id = reinterpret_cast<std::uintptr_t>(&entry);
  bind.send_flags = device_flags(request.flags);
  bind.bind_info = {mr, request.address, request.length, device_rights(request.access)};
  // Some drivers want a region where there is nothing to be bound to one.
  if (request.length == 0) bind.bind_info = {domain_.nothing(), 0, 0, 0};
  return ibv_bind_mw(qp_, window.mw(), &bind);
}

// Nothing to free is a request that does nothing, so that it completes in its turn.
int QueuePair::bind_narrow_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr,
                                  const WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  ibv_send_wr work{};
  work.wr_id = reinterpret_cast<std::uintptr_t>(&entry);
  work.send_flags = device_flags(request.flags);
  work.opcode = IBV_WR_RDMA_WRITE;
  const std::uint32_t key = ibv_inc_rkey(window.mw()->rkey);
  if (request.length > 0) {
    work.opcode = IBV_WR_BIND_MW;
    work.bind_mw = {window.mw(), key, {mr, request.address, request.length, device_rights(request.access)}};
  }
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp_, &work, &bad);
  if (error == 0 && request.length > 0) window.mw()->rkey = key;
  return error;
}

hca::Outcome QueuePair::void_key_locked(std::uint32_t rkey) {
  base::require_lock(locks::kVerbsPostSend);
  WorkEntry& entry = sends_.next();
  entry.queue_pair = this;
  entry.flags = 0;
  entry.length = 0;
  entry.opcode = hca::CompletionOpcode::kBind;
  entry.is_receive = false;
  entry.is_with_device = true;
  if (!count_locked(entry)) return hca::fail(hca::Error::kLimitReached);
  ibv_send_wr work{};
  work.wr_id = reinterpret_cast<std::uintptr_t>(&entry);
  work.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
  work.opcode = IBV_WR_LOCAL_INV;
  work.invalidate_rkey = rkey;
  sends_.commit(entry);
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(qp_, &work, &bad);
  if (error == 0) return hca::Done{};
  retract_locked(entry);
  return hca::fail(error_of(error));
}

}  // namespace softdat::verbs
