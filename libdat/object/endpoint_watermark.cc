// SPDX-License-Identifier: BSD-2-Clause
// How many receive buffers an EP holds, and what happens when there are too many.
#include "base/narrow.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::object {
namespace {

constexpr std::int32_t kTransferToError = 0;      // DAT_EP_TRANSFER_TO_ERROR
constexpr std::int32_t kSoftWatermarkReason = 2;  // DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT

std::uint32_t limit_of(std::int32_t watermark) {
  return watermark == kNoWatermark ? hca::kNoRecvLimit : base::narrow<std::uint32_t>(watermark);
}

}  // namespace

// The device hands a connection's messages over one after the other, so there are no gaps in what
// the EP holds: the span is the count, and one look tells both.
ReceiveUse Endpoint::receive_use() const {
  const hca::QueuePair* queue_pair = bindings_.queue_pair();
  const auto count = queue_pair == nullptr ? 0 : base::narrow<std::int32_t>(queue_pair->recvs_outstanding());
  return {.allocated = count, .span = count};
}

Status Endpoint::set_watermarks(std::int32_t soft, std::int32_t hard) {
  if (soft < kNoWatermark) return invalid_parameter(StatusDetail::kInvalidArg2);
  if (hard < kNoWatermark) return invalid_parameter(StatusDetail::kInvalidArg3);
  const std::lock_guard lock(modify_mutex_);
  {
    const std::lock_guard inner(mutex_);
    attributes_.srq_soft_hw = soft;
  }
  hard_watermark_ = hard;
  is_soft_watermark_armed_.store(true);
  apply_watermarks_locked(bindings_.now());
  return kOk;
}

// The soft one only if it has not been told since it was set.
void Endpoint::apply_watermarks_locked(const EndpointBinding& binding) {
  if (binding.queue_pair() == nullptr) return;
  const std::int32_t soft = is_soft_watermark_armed_.load() ? attributes_.srq_soft_hw : kNoWatermark;
  binding.queue_pair()->set_recv_limits(limit_of(soft), limit_of(hard_watermark_));
}

void Endpoint::on_recv_limit() {
  is_soft_watermark_armed_.store(false);
  ia().report({handle(), kSoftWatermarkReason, AsyncErrorType::kEpBroken});
}

// As InfiniBand tells that the last receive of a shared queue has been reached: programs wait for it
// before they free the queue. And an endpoint that its peer has broken by asking for what it may not
// have, which no completion here tells.
void Endpoint::report_end(const hca::ConnectionEvent& event) {
  const bool has_ended =
      event.type == hca::ConnectionEventType::kDisconnected || event.type == hca::ConnectionEventType::kBroken;
  if ((srq_ != nullptr && has_ended) || event.is_peers_fault)
    ia().report({handle(), kTransferToError, AsyncErrorType::kEpBroken});
}

}  // namespace softdat::object
