// SPDX-License-Identifier: BSD-2-Clause
// The posts of the InfiniBand extension. They travel the same way as all others, but their arguments stand elsewhere.
#include <string>

#include "hca/request_rules.h"
#include "libdat/object/address_handle.h"
#include "libdat/object/endpoint_posts.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/refusal.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kAtomicSize = sizeof(std::uint64_t);

// Finds the argument anew that a post of DAT's own calls number 2 (count) or 3 (segments).
Status relocate(const Status& status, StatusDetail count, StatusDetail segments) {
  if (status == invalid_parameter(StatusDetail::kInvalidArg2)) return invalid_parameter(count);
  if (status == invalid_parameter(StatusDetail::kInvalidArg3)) return invalid_parameter(segments);
  return status;
}

constexpr std::uint32_t kDatagramFlags = kSuppressFlag | kSolicitedWaitFlag | kUnsignalledFlag | kBarrierFenceFlag;

Status datagram_failure(hca::Error error) {
  const Status status = post_failure(error, false);
  if (status == invalid_parameter(StatusDetail::kInvalidArg2)) return invalid_parameter(StatusDetail::kInvalidArg3);
  if (status == invalid_parameter(StatusDetail::kInvalidArg3)) return invalid_parameter(StatusDetail::kInvalidArg4);
  return status;
}

}  // namespace

Status EndpointPosts::post_rdma_write_immediate(std::span<const Segment> local, std::uint64_t cookie,
                                                const RemoteBuffer& remote, std::uint32_t immediate,
                                                std::uint32_t flags) const {
  const std::uint64_t length = hca::total_length(local);
  if (length > remote.length) return EndpointWords::refuse_length(length, remote.length);
  hca::SendRequest request{.wr_id = cookie,
                           .opcode = hca::SendOpcode::kWriteWithImmediate,
                           .rkey = remote.rkey,
                           .remote_address = remote.address,
                           .local = local,
                           .immediate = immediate};
  return relocate(post_request(bindings_.now(), request, flags, StatusDetail::kInvalidArg8), StatusDetail::kInvalidArg3,
                  StatusDetail::kInvalidArg4);
}

Status EndpointPosts::post_atomic(hca::SendRequest& request, const Segment& local, const RemoteBuffer& remote,
                                  std::uint32_t flags, StatusDetail local_argument) const {
  // A longer local segment is cut to the 8 bytes that the operation returns.
  if (local.length < kAtomicSize || remote.length < kAtomicSize) {
    return because(length_error(), [&] {
      return "an atomic takes 8 bytes on both sides; the local segment holds " + std::to_string(local.length) +
             ", and the remote range " + std::to_string(remote.length);
    });
  }
  const Segment original{local.address, kAtomicSize, local.lkey};
  request.rkey = remote.rkey;
  request.remote_address = remote.address;
  request.local = {&original, 1};
  const StatusDetail flags_argument =
      request.opcode == hca::SendOpcode::kFetchAdd ? StatusDetail::kInvalidArg7 : StatusDetail::kInvalidArg8;
  return relocate(post_request(bindings_.now(), request, flags, flags_argument), local_argument, local_argument);
}

Status EndpointPosts::post_fetch_and_add(std::uint64_t addend, const Segment& local, std::uint64_t cookie,
                                         const RemoteBuffer& remote, std::uint32_t flags) const {
  hca::SendRequest request{.wr_id = cookie, .opcode = hca::SendOpcode::kFetchAdd, .local = {}, .operand = addend};
  return post_atomic(request, local, remote, flags, StatusDetail::kInvalidArg4);
}

Status EndpointPosts::post_compare_and_swap(std::uint64_t compare, std::uint64_t swap, const Segment& local,
                                            std::uint64_t cookie, const RemoteBuffer& remote,
                                            std::uint32_t flags) const {
  hca::SendRequest request{
      .wr_id = cookie, .opcode = hca::SendOpcode::kCompareSwap, .local = {}, .operand = swap, .compare = compare};
  return post_atomic(request, local, remote, flags, StatusDetail::kInvalidArg5);
}

Status EndpointPosts::post_datagram(std::span<const Segment> local, const AddressHandle& to, std::uint32_t qp_number,
                                    std::uint64_t cookie, std::uint32_t flags) const {
  const EndpointBinding& now = bindings_.now();
  hca::DatagramQueuePair* const queue_pair = now.datagram_queue_pair();
  if (queue_pair == nullptr) return model_not_supported();
  if (&to.ia().device() != &now.device()) return invalid_parameter(StatusDetail::kInvalidArg5);
  const bool may_be_unsignalled = now.may_post_unsignalled_request() || (flags & kSuppressFlag) != 0;
  if ((flags & ~kDatagramFlags) != 0 || ((flags & kUnsignalledFlag) != 0 && !may_be_unsignalled)) {
    return invalid_parameter(StatusDetail::kInvalidArg7);
  }
  const auto* const device = dynamic_cast<const hca::DatagramDevice*>(&now.device());
  if (hca::total_length(local) > device->max_datagram()) return length_error();
  const hca::QueuePairState state_now = queue_pair->state();
  if (state_now == hca::QueuePairState::kIdle) return words_.refuse_state();
  std::uint32_t wanted = 0;
  if ((flags & kSuppressFlag) == 0 && now.reports_requests()) wanted |= hca::kSignaled;
  if ((flags & kSolicitedWaitFlag) != 0) wanted |= hca::kSolicited;
  if ((flags & kUnsignalledFlag) != 0 && now.may_post_unsignalled_request()) wanted |= hca::kQuiet;
  now.swallow();
  const hca::Outcome outcome = queue_pair->post_datagram(
      {.wr_id = cookie, .flags = wanted, .peer = &to.peer(), .qp_number = qp_number, .local = local});
  return outcome ? kOk : datagram_failure(outcome.reason());
}

}  // namespace softdat::object
