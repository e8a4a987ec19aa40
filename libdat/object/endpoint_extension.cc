// SPDX-License-Identifier: BSD-2-Clause
// The requests of the InfiniBand extension. They travel the same way as all others, but their
// arguments stand elsewhere.
#include <string>

#include "libdat/object/endpoint.h"
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

}  // namespace

Status Endpoint::post_rdma_write_immediate(std::span<const Segment> local, std::uint64_t cookie,
                                           const RemoteBuffer& remote, std::uint32_t immediate, std::uint32_t flags) {
  std::uint64_t length = 0;
  for (const Segment& segment : local) length += segment.length;
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

Status Endpoint::post_atomic(hca::SendRequest& request, const Segment& local, const RemoteBuffer& remote,
                             std::uint32_t flags, StatusDetail local_argument) {
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

Status Endpoint::post_fetch_and_add(std::uint64_t addend, const Segment& local, std::uint64_t cookie,
                                    const RemoteBuffer& remote, std::uint32_t flags) {
  hca::SendRequest request{.wr_id = cookie, .opcode = hca::SendOpcode::kFetchAdd, .local = {}, .operand = addend};
  return post_atomic(request, local, remote, flags, StatusDetail::kInvalidArg4);
}

Status Endpoint::post_compare_and_swap(std::uint64_t compare, std::uint64_t swap, const Segment& local,
                                       std::uint64_t cookie, const RemoteBuffer& remote, std::uint32_t flags) {
  hca::SendRequest request{
      .wr_id = cookie, .opcode = hca::SendOpcode::kCompareSwap, .local = {}, .operand = swap, .compare = compare};
  return post_atomic(request, local, remote, flags, StatusDetail::kInvalidArg5);
}

}  // namespace softdat::object
