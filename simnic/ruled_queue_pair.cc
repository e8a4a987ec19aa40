// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/ruled_queue_pair.h"

#include "hca/request_rules.h"
#include "simnic/memory_region.h"
#include "simnic/scatter_gather.h"

namespace softdat::simnic {
namespace {

using hca::Rule;
using hca::SendOpcode;

bool is_read(SendOpcode opcode) {
  return opcode == SendOpcode::kRead || opcode == SendOpcode::kReadToWindow;
}

hca::Error error_of(Rule rule) {
  if (rule == Rule::kNotOffered) return hca::Error::kUnsupported;
  return rule == Rule::kMissingRight ? hca::Error::kMissingRight : hca::Error::kInvalidArgument;
}

bool offers(const PostRules& rules, SendOpcode opcode) {
  if (hca::is_atomic(opcode)) return rules.has_atomics;
  if (opcode == SendOpcode::kWriteWithImmediate) return rules.has_immediate;
  return opcode != SendOpcode::kSendInvalidate || rules.has_send_with_invalidate;
}

}  // namespace

PostRules post_rules_of(const model::DeviceRules& rules, const hca::DeviceAttributes& attributes) {
  return {.has_atomics = attributes.has_atomics,
          .has_immediate = attributes.has_immediate,
          .has_send_with_invalidate = rules.has_send_with_invalidate,
          .needs_remote_write_to_read = rules.needs_remote_write_to_read,
          .max_read_sge = attributes.max_read_sge,
          .max_message_size = attributes.max_message_size};
}

RuledQueuePair::RuledQueuePair(const NicView& nic, const hca::QueuePairConfig& config, const PostRules& rules)
    : QueuePair(nic, config),
      rules_(rules),
      view_{nic.memory, {static_cast<const ProtectionDomain*>(config.pd)->id(), nic.stream}} {}

// Before what the engine thread may still ask for has gone.
RuledQueuePair::~RuledQueuePair() {
  leave_engine();
}

hca::Failure RuledQueuePair::refusal_of(const hca::SendRequest& request) const {
  hca::Failure failure;
  failure.actor = hca::Actor::kOurRequest;
  failure.operation = hca::completion_opcode(request.opcode);
  failure.rule = Rule::kNotOffered;
  if (!offers(rules_, request.opcode)) return failure;
  failure.rule = Rule::kTooManySegments;
  failure.length = request.local.size();
  failure.room = rules_.max_read_sge;
  if (is_read(request.opcode) && failure.length > failure.room) return failure;
  failure.rule = Rule::kMessageTooLong;
  failure.length = hca::total_length(request.local);
  failure.room = rules_.max_message_size;
  // If segments leave their regions, the queue pair reports that instead.
  const hca::AccessMask rights = local_rights(request.opcode);
  if (failure.length > failure.room && check_segments(view_, request.local, rights) == AccessError::kNone)
    return failure;
  failure.rule = Rule::kUnknown;
  // iWARP devices place a read response as a tagged message, so its sink needs remote write access (DAT's
  // rdma_write_for_rdma_read_req).
  if (request.opcode != SendOpcode::kRead || !rules_.needs_remote_write_to_read) return failure;
  if (check_segments(view_, request.local, hca::kRemoteWrite) != AccessError::kMissingRight) return failure;
  explain_segments(view_, request.local, hca::kRemoteWrite, failure);
  return failure;
}

hca::Outcome RuledQueuePair::post_send(const hca::SendRequest& request) {
  if (!hca::takes_sends(state())) return hca::fail(hca::Error::kInvalidState);
  const hca::Failure refusal = refusal_of(request);
  if (refusal.rule != Rule::kUnknown) return hca::fail(error_of(refusal.rule));
  return QueuePair::post_send(request);
}

hca::Failure RuledQueuePair::explain(const hca::SendRequest& request) const {
  hca::Failure refusal = refusal_of(request);
  return refusal.rule == Rule::kUnknown ? QueuePair::explain(request) : refusal;
}

}  // namespace softdat::simnic
