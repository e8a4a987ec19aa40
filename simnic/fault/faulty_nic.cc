// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault/faulty_nic.h"

#include <utility>

#include "simnic/fault/faulty_queue_pair.h"

namespace softdat::simnic::fault {

using base::FaultOp;

FaultyNic::FaultyNic(std::unique_ptr<transport::Carrier> carrier, const NicConfig& config,
                     std::shared_ptr<const Injector> injector)
    : Nic(std::make_unique<FaultyCarrier>(std::move(carrier), injector, config.rnr, config.port_base), config),
      injector_(std::move(injector)) {
  const Engine::Hold hold(engine());
  carrier_ = &static_cast<FaultyCarrier&>(engine().carrier());
  // The engine thread runs already, hence the baton.
  carrier_->attach(engine());
}

// Any thread creates objects, and the counts must not skip: hence the lock.
std::optional<hca::Error> FaultyNic::decide(FaultOp op, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  const Point point{.stage = base::FaultStage::kCreation, .op = op, .number = ++created_[op], .size = size};
  std::optional<hca::Error> error;
  for (const base::FaultRule* rule : injector_->decide(point, counts_)) {
    injector_->note(*rule, point);
    if (rule->kind == base::FaultKind::kFailCreate) error = error_of_reason(rule->word);
  }
  return error;
}

hca::Result<std::unique_ptr<hca::ProtectionDomain>> FaultyNic::create_pd() {
  if (const auto error = decide(FaultOp::kPz)) return hca::fail(*error);
  return Nic::create_pd();
}

hca::Result<std::unique_ptr<hca::MemoryRegion>> FaultyNic::register_memory(hca::ProtectionDomain& pd,
                                                                           std::uint64_t address, std::uint64_t length,
                                                                           hca::AccessMask access) {
  if (const auto error = decide(FaultOp::kLmr, length)) return hca::fail(*error);
  return Nic::register_memory(pd, address, length, access);
}

hca::Result<std::unique_ptr<hca::MemoryWindow>> FaultyNic::create_window(hca::ProtectionDomain& pd,
                                                                         hca::WindowScope scope,
                                                                         std::uint64_t context) {
  if (const auto error = decide(FaultOp::kRmr)) return hca::fail(*error);
  return Nic::create_window(pd, scope, context);
}

hca::Result<std::unique_ptr<hca::CompletionQueue>> FaultyNic::create_cq(std::size_t capacity,
                                                                        hca::CompletionSink& sink) {
  if (const auto error = decide(FaultOp::kEvd)) return hca::fail(*error);
  return Nic::create_cq(capacity, sink);
}

hca::Result<std::unique_ptr<hca::QueuePair>> FaultyNic::create_qp(const hca::QueuePairConfig& config) {
  if (const auto error = decide(FaultOp::kEp)) return hca::fail(*error);
  return Nic::create_qp(config);
}

hca::Result<std::unique_ptr<hca::SharedReceiveQueue>> FaultyNic::create_srq(
    const hca::SharedReceiveQueueConfig& config) {
  if (const auto error = decide(FaultOp::kSrq)) return hca::fail(*error);
  return Nic::create_srq(config);
}

hca::Result<std::unique_ptr<hca::Listener>> FaultyNic::listen(std::uint64_t service_id, std::uint32_t backlog,
                                                              hca::ListenerSink& sink) {
  if (const auto error = decide(FaultOp::kPsp)) return hca::fail(*error);
  return Nic::listen(service_id, backlog, sink);
}

hca::Device::WaitFate FaultyNic::decide_wait(bool has_end) {
  const std::lock_guard lock(mutex_);
  const Point point{.stage = base::FaultStage::kWait, .op = FaultOp::kWait, .number = ++waits_};
  WaitFate fate = WaitFate::kGoesOn;
  for (const base::FaultRule* rule : injector_->decide(point, counts_)) {
    injector_->note(*rule, point);
    if (rule->kind != base::FaultKind::kFailWait) continue;
    // A wait without a limit cannot come to it.
    fate = rule->word == "timeout" && has_end ? WaitFate::kTimedOut : WaitFate::kInterrupted;
  }
  return fate;
}

std::unique_ptr<QueuePair> FaultyNic::make_queue_pair(const NicView& view, const hca::QueuePairConfig& config) {
  return std::make_unique<FaultyQueuePair>(view, config, post_rules(), *carrier_);
}

}  // namespace softdat::simnic::fault
