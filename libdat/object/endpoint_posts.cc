// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_posts.h"

#include <algorithm>
#include <array>

#include "base/call.h"
#include "base/narrow.h"
#include "base/probe.h"
#include "hca/request_rules.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/memory_region.h"
#include "libdat/object/memory_window.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kSendFlags = kSuppressFlag | kSolicitedWaitFlag | kUnsignalledFlag | kBarrierFenceFlag;
constexpr std::uint32_t kRdmaFlags = kSuppressFlag | kUnsignalledFlag | kBarrierFenceFlag;
constexpr std::uint32_t kRecvFlags = kUnsignalledFlag;

// More than any device takes; the trimmed list is on the caller's stack.
constexpr std::size_t kMostSegments = 64;

// Copies the leading segments that take `length` bytes, the last one shortened.
std::span<const Segment> trim(std::span<const Segment> segments, std::uint64_t length, std::span<Segment> room) {
  std::size_t count = 0;
  for (; count < segments.size() && length > 0; ++count) {
    room[count] = segments[count];
    room[count].length = base::narrow<std::uint32_t>(std::min<std::uint64_t>(length, segments[count].length));
    length -= room[count].length;
  }
  return room.first(count);
}

// A suppressed success wakes nobody, so UNSIGNALLED beside SUPPRESS asks nothing of the EP.
bool are_flags_good(std::uint32_t flags, std::uint32_t known, bool may_be_unsignalled) {
  if ((flags & ~known) != 0) return false;
  return (flags & kUnsignalledFlag) == 0 || may_be_unsignalled || (flags & kSuppressFlag) != 0;
}

[[gnu::noinline]] std::uint32_t any_send_flags(std::uint32_t flags, const EndpointBinding& binding) {
  std::uint32_t result = 0;
  if ((flags & kSuppressFlag) == 0 && binding.reports_requests()) result |= hca::kSignaled;
  if ((flags & kSolicitedWaitFlag) != 0) result |= hca::kSolicited;
  if ((flags & kBarrierFenceFlag) != 0) result |= hca::kFence;
  if ((flags & kUnsignalledFlag) != 0 && binding.may_post_unsignalled_request()) {
    result |= hca::kQuiet;
  }
  return result;
}

// Inline: nearly always there are none.
inline std::uint32_t send_flags(std::uint32_t flags, const EndpointBinding& binding) {
  if (flags != 0) [[unlikely]]
    return any_send_flags(flags, binding);
  return binding.reports_requests() ? hca::kSignaled : 0u;
}

}  // namespace

[[gnu::always_inline]] inline Status EndpointPosts::check_request(const EndpointBinding& binding, std::uint32_t flags,
                                                                  std::uint32_t known,
                                                                  StatusDetail flags_argument) const {
  if (!are_flags_good(flags, known, binding.may_post_unsignalled_request()))
    return words_.refuse_flags(flags, known, flags_argument, "request_completion_flags");
  const hca::QueuePair* queue_pair = binding.queue_pair();
  if (queue_pair == nullptr) return words_.refuse_state();
  // On a DISCONNECTED endpoint a post succeeds, and is flushed (docs/STATES.md, event post request).
  const hca::QueuePairState now = queue_pair->state();
  const bool is_possible = now == hca::QueuePairState::kConnected || now == hca::QueuePairState::kError;
  return is_possible ? kOk : words_.refuse_state();
}

// Inline: each post is left with the checks of its own opcode.
[[gnu::always_inline]] inline Status EndpointPosts::post_inline(const EndpointBinding& binding,
                                                                hca::SendRequest& request, std::uint32_t flags,
                                                                std::uint32_t known_flags,
                                                                StatusDetail flags_argument) const {
  const Status check = check_request(binding, flags, known_flags, flags_argument);
  if (!check.ok()) [[unlikely]]
    return check;
  request.flags = send_flags(flags, binding);
  // Completions that nobody wants must not fill their queue.
  binding.swallow();
  SOFTDAT_PROBE(post, binding.ep(), request.wr_id, request.opcode, request.local.data(), request.local.size());
  const hca::Outcome outcome = binding.queue_pair()->post_send(request);
  if (outcome) [[likely]]
    return kOk;
  if (outcome.reason() == hca::Error::kInvalidState) return words_.refuse_state();
  return words_.refuse_post(*binding.queue_pair(), request,
                            post_failure(outcome.reason(), hca::awaits_response(request.opcode)));
}

Status EndpointPosts::post_request(const EndpointBinding& binding, hca::SendRequest& request, std::uint32_t flags,
                                   StatusDetail flags_argument) const {
  const bool is_send = request.opcode == hca::SendOpcode::kSend || request.opcode == hca::SendOpcode::kSendInvalidate ||
                       request.opcode == hca::SendOpcode::kWriteWithImmediate;
  return post_inline(binding, request, flags, is_send ? kSendFlags : kRdmaFlags, flags_argument);
}

Status EndpointPosts::post_send(std::span<const Segment> local, std::uint64_t cookie, std::uint32_t flags) const {
  hca::SendRequest request{.wr_id = cookie, .opcode = hca::SendOpcode::kSend, .local = local};
  return post_inline(bindings_.now(), request, flags, kSendFlags, StatusDetail::kInvalidArg5);
}

Status EndpointPosts::post_rdma_write(std::span<const Segment> local, std::uint64_t cookie, const RemoteBuffer& remote,
                                      std::uint32_t flags) const {
  if (hca::total_length(local) > remote.length)
    return EndpointWords::refuse_length(hca::total_length(local), remote.length);
  hca::SendRequest request{.wr_id = cookie,
                           .opcode = hca::SendOpcode::kWrite,
                           .rkey = remote.rkey,
                           .remote_address = remote.address,
                           .local = local};
  return post_inline(bindings_.now(), request, flags, kRdmaFlags, StatusDetail::kInvalidArg6);
}

// The local segments may be longer than the remote range; the device wants equal lengths.
Status EndpointPosts::post_rdma_read(std::span<const Segment> local, std::uint64_t cookie, const RemoteBuffer& remote,
                                     std::uint32_t flags) const {
  const std::uint64_t room = hca::total_length(local);
  if (remote.length > room) return EndpointWords::refuse_length(room, remote.length);
  if (local.size() > kMostSegments) return invalid_parameter(StatusDetail::kInvalidArg2);
  std::array<Segment, kMostSegments> trimmed;
  hca::SendRequest request{.wr_id = cookie,
                           .opcode = hca::SendOpcode::kRead,
                           .rkey = remote.rkey,
                           .remote_address = remote.address,
                           .local = remote.length == room ? local : trim(local, remote.length, trimmed)};
  return post_inline(bindings_.now(), request, flags, kRdmaFlags, StatusDetail::kInvalidArg6);
}

Status EndpointPosts::post_send_with_invalidate(std::span<const Segment> local, std::uint64_t cookie,
                                                std::uint32_t flags, std::uint32_t invalidated) const {
  hca::SendRequest request{
      .wr_id = cookie, .opcode = hca::SendOpcode::kSendInvalidate, .rkey = invalidated, .local = local};
  return post_inline(bindings_.now(), request, flags, kSendFlags, StatusDetail::kInvalidArg5);
}

Status EndpointPosts::post_rdma_read_to_rmr(const RemoteBuffer& local, std::uint64_t cookie, const RemoteBuffer& remote,
                                            std::uint32_t flags) const {
  if (remote.length > local.length || remote.length > hca::kMaxLength)
    return EndpointWords::refuse_length(local.length, remote.length);
  const Segment sink{local.address, base::narrow<std::uint32_t>(remote.length), local.rkey};
  hca::SendRequest request{.wr_id = cookie,
                           .opcode = hca::SendOpcode::kReadToWindow,
                           .rkey = remote.rkey,
                           .remote_address = remote.address,
                           .local = {&sink, 1}};
  return post_inline(bindings_.now(), request, flags, kRdmaFlags, StatusDetail::kInvalidArg5);
}

Status EndpointPosts::post_bind(const MemoryWindow& rmr, const WindowBind& bind, std::uint64_t cookie,
                                std::uint32_t flags, StatusDetail triplet, StatusDetail flags_argument,
                                std::uint32_t& rmr_context) const {
  const EndpointBinding& now = bindings_.now();
  if (&rmr.device() != &now.device()) return invalid_handle(StatusDetail::kInvalidHandleEp);
  if (const Status check = check_request(now, flags, kRdmaFlags, flags_argument); !check.ok()) return check;
  const hca::AccessMask access = MemoryRegion::remote_access(bind.privileges);
  now.swallow();
  const hca::BindRequest request{.wr_id = cookie,
                                 .flags = send_flags(flags, now),
                                 .window = &rmr.window(),
                                 .lkey = bind.lmr_context,
                                 .address = bind.address,
                                 .length = bind.length,
                                 .access = access | (bind.is_zero_based ? hca::kZeroBased : 0u),
                                 .note = bind.privileges};
  SOFTDAT_PROBE(post_bind, now.ep(), cookie, bind.address, bind.length);
  const auto key = now.queue_pair()->post_bind(request);
  if (key) {
    rmr_context = key.value();
    // The key is valid for peers once the bind has completed.
    return kOk;
  }
  if (key.reason() == hca::Error::kInvalidState) return words_.refuse_state();
  return words_.refuse_post(*now.queue_pair(), request, bind_failure(key.reason(), bind.privileges, triplet));
}

Status EndpointPosts::post_recv(std::span<const Segment> local, std::uint64_t cookie, std::uint32_t flags) const {
  const EndpointBinding& now = bindings_.now();
  if (now.config().srq != nullptr) return words_.refuse_own_receive(*now.config().srq);
  if (!are_flags_good(flags, kRecvFlags, now.may_post_unsignalled_recv())) {
    return words_.refuse_flags(flags, kRecvFlags, StatusDetail::kInvalidArg5, "recv_completion_flags");
  }
  if (now.queue_pair() == nullptr) return invalid_state(StatusDetail::kInvalidStateEpPz);
  now.swallow();
  const std::uint32_t quiet = (flags & kUnsignalledFlag) != 0 ? hca::kQuiet : 0u;
  const hca::RecvRequest request{.wr_id = cookie, .flags = quiet, .local = local};
  SOFTDAT_PROBE(post_recv, now.ep(), cookie, local.data(), local.size());
  const hca::Outcome outcome = now.queue_pair()->post_recv(request);
  if (outcome) [[likely]]
    return kOk;
  if (outcome.reason() == hca::Error::kInvalidState) {
    // Another queue pair takes the place of this one (EndpointSettings::modify()).
    bindings_.await_replacement();
    return &bindings_.now() == &now ? words_.refuse_state() : post_recv(local, cookie, flags);
  }
  return words_.refuse_post(*now.queue_pair(), request, post_failure(outcome.reason(), true));
}

void EndpointPosts::note_place(bool is_receive) const {
  hca::QueuePair* const queue_pair = bindings_.queue_pair();
  if (queue_pair != nullptr) queue_pair->note_place(is_receive, base::calling_place());
  if (!is_receive && bindings_.state() == EndpointState::kDisconnected) words_.tell_late_post();
}

}  // namespace softdat::object
