// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/faulty_queue_pair.h"

#include "hca/request_rules.h"
#include "simnic/engine.h"

namespace softdat::simnic::fault {
namespace {

using base::FaultOp;

FaultOp op_of(hca::SendOpcode opcode) {
  switch (opcode) {
    case hca::SendOpcode::kWrite:
    case hca::SendOpcode::kWriteWithImmediate:
      return FaultOp::kWrite;
    case hca::SendOpcode::kRead:
    case hca::SendOpcode::kReadToWindow:
      return FaultOp::kRead;
    case hca::SendOpcode::kFetchAdd:
    case hca::SendOpcode::kCompareSwap:
      return FaultOp::kAtomic;
    default:
      return FaultOp::kSend;
  }
}

}  // namespace

hca::Error error_of_reason(const std::string& reason) {
  if (reason == "memory") return hca::Error::kNoMemory;
  return reason == "protection" ? hca::Error::kPermission : hca::Error::kLimitReached;
}

FaultyQueuePair::FaultyQueuePair(const NicView& nic, const hca::QueuePairConfig& config, const PostRules& rules,
                                 FaultyCarrier& carrier)
    : RuledQueuePair(nic, config, rules),
      engine_(nic.engine),
      carrier_(carrier),
      endpoint_(carrier.endpoint_of(nic.address)),
      recv_cq_(static_cast<CompletionQueue&>(*config.recv_cq)),
      has_srq_(config.srq != nullptr) {
  const Engine::Hold hold(engine_);
  carrier_.endpoint(endpoint_).queue_pair = this;
}

FaultyQueuePair::~FaultyQueuePair() {
  // First: the engine thread may still call this class.
  leave_engine();
  const Engine::Hold hold(engine_);
  // Numbers come again when very many queue pairs have been made.
  FaultyQueuePair*& entry = carrier_.endpoint(endpoint_).queue_pair;
  if (entry == this) entry = nullptr;
}

// Posts of one queue pair are counted one by one. Other queue pairs have counts of their own.
std::optional<hca::Error> FaultyQueuePair::decide_post(FaultOp op, std::uint64_t size) {
  const std::lock_guard lock(post_mutex_);
  const Point point{
      .stage = base::FaultStage::kPost, .op = op, .endpoint = endpoint_, .number = ++posts_, .size = size};
  std::optional<hca::Error> error;
  for (const base::FaultRule* rule : carrier_.injector().decide(point, counts_)) {
    carrier_.injector().note(*rule, point);
    if (rule->kind == base::FaultKind::kFailPost) error = error_of_reason(rule->word);
  }
  return error;
}

hca::Outcome FaultyQueuePair::post_send(const hca::SendRequest& request) {
  if (const auto error = decide_post(op_of(request.opcode), hca::total_length(request.local))) return hca::fail(*error);
  return RuledQueuePair::post_send(request);
}

hca::Result<std::uint32_t> FaultyQueuePair::post_bind(const hca::BindRequest& request) {
  if (const auto error = decide_post(FaultOp::kBind, request.length)) return hca::fail(*error);
  return QueuePair::post_bind(request);
}

hca::Outcome FaultyQueuePair::post_recv(const hca::RecvRequest& request) {
  if (const auto error = decide_post(FaultOp::kRecv, hca::total_length(request.local))) return hca::fail(*error);
  return QueuePair::post_recv(request);
}

// The carrier is asked again and again while nobody listens; the plan is asked once.
hca::Outcome FaultyQueuePair::connect(const hca::ConnectParameters& parameters) {
  {
    const Engine::Hold hold(engine_);
    EndpointState& state = carrier_.endpoint(endpoint_);
    ++state.connects;
    state.fate.reset();
  }
  const hca::Outcome outcome = QueuePair::connect(parameters);
  if (outcome) return outcome;
  const Engine::Hold hold(engine_);
  // A connect that was refused by its arguments does not count.
  --carrier_.endpoint(endpoint_).connects;
  return outcome;
}

void FaultyQueuePair::lose_completion() {
  // Counted as an overflow, and then treated as one.
  recv_cq_.lose_one();
  connection().lose_completion();
}

}  // namespace softdat::simnic::fault
