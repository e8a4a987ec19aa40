// SPDX-License-Identifier: BSD-2-Clause
// The consumer's way in: nothing here takes a lock that another queue pair's posts take.
#include "simnic/engine.h"
#include "simnic/queue_pair.h"

namespace softdat::simnic {
namespace {

using hca::QueuePairState;

constexpr std::uint32_t kSendFlags = hca::kSignaled | hca::kSolicited | hca::kFence | hca::kQuiet;
constexpr std::uint64_t kMaxLength = 0xffff'ffff;

std::uint64_t total_length(std::span<const hca::Segment> segments) {
  std::uint64_t total = 0;
  for (const hca::Segment& segment : segments) total += segment.length;
  return total;
}

bool is_known(hca::SendOpcode opcode) {
  return opcode == hca::SendOpcode::kSend || opcode == hca::SendOpcode::kWrite || opcode == hca::SendOpcode::kRead;
}

bool takes_sends(QueuePairState state) {
  return state == QueuePairState::kConnected || state == QueuePairState::kDisconnecting ||
         state == QueuePairState::kError;
}

}  // namespace

hca::Outcome QueuePair::post_send(const hca::SendRequest& request) {
  if (!takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
  const std::uint64_t length = total_length(request.local);
  if (!is_known(request.opcode) || (request.flags & ~kSendFlags) != 0 || length > kMaxLength ||
      request.local.size() > limits_.send_sge) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  const hca::AccessMask rights = request.opcode == hca::SendOpcode::kRead ? hca::kLocalWrite : 0u;
  const KeyFault fault = check_segments(memory_, request.local, rights);
  if (fault != KeyFault::kNone) return hca::fail(error_of(fault));

  const SendEntry entry{.wr_id = request.wr_id,
                        .remote_address = request.remote_address,
                        .rkey = request.rkey,
                        .flags = request.flags,
                        .length = static_cast<std::uint32_t>(length),
                        .segment_count = static_cast<std::uint16_t>(request.local.size()),
                        .opcode = request.opcode};
  {
    const std::lock_guard lock(send_mutex_);
    // Again: reset() changes the state under this lock, so nothing slips into a new life.
    if (!takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
    if (requester_.queue().is_full()) return hca::fail(hca::Error::kLimitReached);
    requester_.queue().push(entry, request.local);
  }
  nic_.engine.ring(*this);
  return hca::Done{};
}

}  // namespace softdat::simnic
