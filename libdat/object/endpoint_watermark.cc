// SPDX-License-Identifier: BSD-2-Clause
// What happens when an EP holds too many receive buffers.
#include "base/narrow.h"
#include "libdat/object/endpoint_settings.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::object {
namespace {

constexpr std::int32_t kSoftWatermarkReason = 2;  // DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT

std::uint32_t limit_of(std::int32_t watermark) {
  return watermark == kNoWatermark ? hca::kNoRecvLimit : base::narrow<std::uint32_t>(watermark);
}

}  // namespace

Status EndpointSettings::set_watermarks(std::int32_t soft, std::int32_t hard) {
  if (soft < kNoWatermark) return invalid_parameter(StatusDetail::kInvalidArg2);
  if (hard < kNoWatermark) return invalid_parameter(StatusDetail::kInvalidArg3);
  const std::lock_guard lock(modify_mutex_);
  {
    const std::lock_guard inner(mutex_);
    attributes_.srq_soft_hw = soft;
  }
  hard_watermark_ = hard;
  is_soft_watermark_armed_.store(true);
  apply_watermarks(bindings_.now());
  return kOk;
}

// The soft one only if it has not been told since it was set.
void EndpointSettings::apply_watermarks(const EndpointBinding& binding) {
  if (binding.queue_pair() == nullptr) return;
  const std::int32_t soft = is_soft_watermark_armed_.load() ? attributes_.srq_soft_hw : kNoWatermark;
  binding.queue_pair()->set_recv_limits(limit_of(soft), limit_of(hard_watermark_));
}

// Disarmed until the next dat_ep_set_watermark(3DAT).
void EndpointSettings::tell_soft_watermark() {
  is_soft_watermark_armed_.store(false);
  ep_.ia().report({ep_.handle(), kSoftWatermarkReason, AsyncErrorType::kEpBroken});
}

}  // namespace softdat::object
