// SPDX-License-Identifier: BSD-2-Clause
// Binds, which the device carries out in order with the sends.
#include <cerrno>
#include <new>

#include "hca/request_rules.h"
#include "verbs/memory_region.h"
#include "verbs/memory_window.h"
#include "verbs/send_queue.h"

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

// A window that peers may write wants local write of its region, as ibv_bind_mw(3) does.
hca::Outcome check_region(const MemoryGrant& grant, const hca::BindRequest& request, std::uint32_t domain) {
  if (grant.domain != domain) return hca::fail(hca::Error::kWrongDomain);
  const bool is_change = (request.access & (hca::kRemoteWrite | hca::kRemoteAtomic)) != 0;
  const hca::AccessMask needed = is_change ? hca::AccessMask{hca::kLocalWrite} : hca::AccessMask{hca::kBindRemoteRead};
  if ((grant.access & needed) == 0) return hca::fail(hca::Error::kMissingRight);
  if (!holds(grant, request.address, request.length)) return hca::fail(hca::Error::kOutOfRange);
  return hca::Done{};
}

// Length 0 is an unbind: the window has no key then.
hca::WindowBinding binding_of(const hca::BindRequest& request, std::uint32_t key) {
  if (request.length == 0) return {.note = request.note};
  return {.rkey = key,
          .lkey = request.lkey,
          .address = request.address,
          .length = request.length,
          .is_zero_based = (request.access & hca::kZeroBased) != 0,
          .note = request.note};
}

// From here on MemoryRegion::revoke() is refused, until the bind has completed (WindowState::on_done) or failed.
hca::Result<MemoryGrant> retain_region(MemoryTable& memory, std::uint32_t lkey) try {
  const auto grant = memory.retain(lkey);
  if (!grant) return hca::fail(hca::Error::kBadKey);
  return *grant;
} catch (const std::bad_alloc&) {
  return hca::fail(hca::Error::kNoMemory);
}

unsigned device_flags(std::uint32_t flags) {
  return IBV_SEND_SIGNALED | ((flags & hca::kFence) != 0 ? unsigned{IBV_SEND_FENCE} : 0u);
}

}  // namespace

hca::Result<std::uint32_t> SendQueue::bind(const hca::BindRequest& request) {
  const std::lock_guard lock(mutex_);
  if (!hca::takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
  if (!device_.traits.has_windows) return hca::fail(hca::Error::kUnsupported);
  if (!hca::is_well_formed(request)) return hca::fail(hca::Error::kInvalidArgument);
  auto& window = static_cast<MemoryWindow&>(*request.window);
  if (window.domain() != domain_id_) return hca::fail(hca::Error::kWrongDomain);
  if (request.length == 0) return bind_locked(request, window, nullptr);
  const auto grant = retain_region(device_.memory, request.lkey);
  if (!grant) return hca::fail(grant.reason());
  const hca::Outcome fit = check_region(grant.value(), request, domain_id_);
  const auto key = fit ? bind_locked(request, window, grant.value().mr) : hca::fail(fit.reason());
  if (!key) device_.memory.release(request.lkey);
  return key;
}

hca::Result<std::uint32_t> SendQueue::bind_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr) {
  base::require_lock(locks::kVerbsPostSend);
  // Devices count from 0 in windows of one queue pair only.
  if ((request.access & hca::kZeroBased) != 0 && !window.is_narrow()) return hca::fail(hca::Error::kUnsupported);
  make_room();
  const base::Uncancelled guard;
  const std::lock_guard lock(window.mutex());
  const bool is_with_device = state() == QueuePairState::kConnected;
  if (window.state()->was_voided(window.posted_key)) window.posted_key = 0;
  // A window of type 2 must be invalidated before it is bound again, on the queue pair that it was bound on. That of an
  // endpoint that was reset has gone, so the device gives another window.
  if (window.is_narrow() && window.posted_key != 0 && is_with_device && window.posted_on != device_pair_.number()) {
    if (const hca::Outcome renewed = window.renew(); !renewed) return hca::fail(renewed.reason());
  }
  const bool must_void = window.is_narrow() && window.posted_key != 0 && is_with_device;
  if (ring_.outstanding() + (must_void ? 2 : 1) > limits_.send_wr) return hca::fail(hca::Error::kLimitReached);
  const bool is_counted = is_with_device && (request.flags & hca::kSignaled) == 0;
  if (is_counted && !completions_.count_unwanted()) return hca::fail(hca::Error::kLimitReached);
  if (must_void) {
    if (const hca::Outcome voided = invalidate_locked(window.posted_key); !voided) {
      if (is_counted) completions_.discount_unwanted();
      return hca::fail(voided.reason());
    }
    // The invalidation is on its way, whatever becomes of the bind.
    window.posted_key = 0;
  }
  WorkEntry& entry = ring_.next();
  entry.cookie = request.wr_id;
  entry.length = 0;
  entry.flags = request.flags;
  entry.opcode = hca::CompletionOpcode::kBind;
  entry.is_with_device = is_with_device;
  entry.is_counted = is_counted;
  entry.window = window.state();
  std::uint32_t key = ibv_inc_rkey(window.mw()->rkey);
  // The device may complete the bind before the call returns. on_done() waits for this lock, so it finds entry.binding.
  auto hold = window.state()->hold();
  if (is_with_device) {
    ring_.commit(entry);
    if (const int error = bind_on_device_locked(request, window, mr, entry); error != 0) {
      retract(entry);
      entry.window.reset();
      return hca::fail(error_of(error));
    }
    if (!window.is_narrow()) key = window.mw()->rkey;
    window.posted_key = request.length == 0 ? 0 : key;
    window.posted_on = device_pair_.number();
  }
  entry.binding = binding_of(request, key);
  hold.unlock();
  if (!is_with_device) commit_unposted(entry);
  return request.length == 0 ? 0 : key;
}

// Type 1 by a call of its own, type 2 by a request. Without a range, a request of type 2 that does nothing: so the
// unbind completes in its turn.
int SendQueue::bind_on_device_locked(const hca::BindRequest& request, MemoryWindow& window, ibv_mr* mr,
                                     const WorkEntry& entry) {
  base::require_lock(locks::kVerbsPostSend);
  const bool is_unbind = request.length == 0;
  const std::uint64_t id = reinterpret_cast<std::uintptr_t>(&entry);
  const ibv_mw_bind_info range{mr, request.address, request.length, device_rights(request.access)};
  if (!window.is_narrow()) {
    // Some drivers demand a region for an unbind, too.
    const ibv_mw_bind_info nothing{is_unbind ? domain_.nothing() : nullptr, 0, 0, 0};
    ibv_mw_bind bind{.wr_id = id, .send_flags = device_flags(request.flags), .bind_info = is_unbind ? nothing : range};
    return ibv_bind_mw(device_pair_.get(), window.mw(), &bind);
  }
  ibv_send_wr work{};
  work.wr_id = id;
  work.send_flags = device_flags(request.flags);
  work.opcode = is_unbind ? IBV_WR_RDMA_WRITE : IBV_WR_BIND_MW;
  const std::uint32_t key = ibv_inc_rkey(window.mw()->rkey);
  if (!is_unbind) work.bind_mw = {window.mw(), key, range};
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(device_pair_.get(), &work, &bad);
  if (error == 0 && !is_unbind) window.mw()->rkey = key;
  return error;
}

// Posts an entry without a window, so that nobody is told of its end (WorkEntry::is_invalidation).
hca::Outcome SendQueue::invalidate_locked(std::uint32_t rkey) {
  base::require_lock(locks::kVerbsPostSend);
  WorkEntry& entry = ring_.next();
  entry.flags = 0;
  entry.length = 0;
  entry.opcode = hca::CompletionOpcode::kBind;
  entry.is_with_device = true;
  if (!count(entry)) return hca::fail(hca::Error::kLimitReached);
  ibv_send_wr work{};
  work.wr_id = reinterpret_cast<std::uintptr_t>(&entry);
  work.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
  work.opcode = IBV_WR_LOCAL_INV;
  work.invalidate_rkey = rkey;
  ring_.commit(entry);
  ibv_send_wr* bad = nullptr;
  const int error = ibv_post_send(device_pair_.get(), &work, &bad);
  if (error == 0) return hca::Done{};
  retract(entry);
  return hca::fail(error_of(error));
}

}  // namespace softdat::verbs
