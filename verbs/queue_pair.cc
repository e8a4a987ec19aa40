// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/queue_pair.h"

#include <mutex>
#include <utility>

namespace softdat::verbs {

QueuePair::QueuePair(const DeviceView& device, const hca::QueuePairConfig& config)
    : limits_(config.limits),
      context_(config.context),
      memory_(device.memory),
      work_(device, config, *this, state_),
      connection_(device, config, state_, work_) {}

hca::Result<std::unique_ptr<hca::QueuePair>> QueuePair::create(const DeviceView& device,
                                                               const hca::QueuePairConfig& config) {
  std::unique_ptr<QueuePair> self(new QueuePair(device, config));
  const hca::Outcome made = self->work_.device_pair().make(self->connection_);
  if (!made) return hca::fail(made.reason());
  return std::unique_ptr<hca::QueuePair>(std::move(self));
}

// In one piece: on emulated processors, and on processors that have much else to do, calls and returns cost most.
[[gnu::flatten]] hca::Outcome QueuePair::post_send(const hca::SendRequest& request) {
  return work_.sends().post(request);
}

[[gnu::flatten]] hca::Outcome QueuePair::post_recv(const hca::RecvRequest& request) {
  const hca::Outcome posted = work_.recvs().post(request);
  // The event thread counts again, and reports: this call has no sink to tell.
  if (posted && work_.recvs().is_over_a_limit()) connection_.wake();
  return posted;
}

void QueuePair::set_recv_limits(std::uint32_t soft, std::uint32_t hard) {
  work_.recvs().set_limits(soft, hard);
  if (work_.recvs().is_over_a_limit()) connection_.wake();
}

// Both queue pairs are idle, so their ibv_qps have taken no receive.
hca::Outcome QueuePair::inherit_recvs(hca::QueuePair& other) {
  auto& from = static_cast<QueuePair&>(other);
  const std::scoped_lock lock(connection_.mutex(), from.connection_.mutex(), from.work_.sends().mutex(),
                              work_.recvs().mutex(), from.work_.recvs().mutex());
  const bool are_idle = state() == hca::QueuePairState::kIdle && from.state() == hca::QueuePairState::kIdle;
  if (!are_idle) return hca::fail(hca::Error::kInvalidState);
  if (const hca::Outcome taken = work_.recvs().inherit_locked(from.work_.recvs()); !taken) return taken;
  // Its receives have moved. No receive can be posted to it, and no connection made, from now on.
  from.work_.device_pair().discard();
  return hca::Done{};
}

hca::Outcome QueuePair::retire() {
  const std::scoped_lock lock(connection_.mutex(), work_.sends().mutex(), work_.recvs().mutex());
  if (state() != hca::QueuePairState::kIdle) return hca::fail(hca::Error::kInvalidState);
  if (const hca::Outcome retired = work_.recvs().retire_locked(); !retired) return retired;
  work_.device_pair().discard();
  return hca::Done{};
}

void QueuePair::report_failed_work(const WorkEntry& entry, const ibv_wc& wc, hca::CompletionStatus status) {
  failures().report_work(entry, work_.queue_of(entry).ring().note_of(entry), wc, status);
}

}  // namespace softdat::verbs
