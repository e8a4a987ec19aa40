// SPDX-License-Identifier: BSD-2-Clause
// DAT_EP_ATTR without an ABI's layout. Attributes are what the consumer hopes for: zero means "you
// choose", but for the numbers of RDMA reads, where it means none; sizes of messages are not enforced.
#pragma once

#include <cstdint>

#include "hca/types.h"
#include "libdat/object/event_stream.h"
#include "libdat/object/status.h"

namespace softdat::object {

// Numbered as DAT_COMPLETION_FLAGS of both ABIs.
enum CompletionFlag : std::uint32_t {
  kSuppressFlag = 0x01,
  kSolicitedWaitFlag = 0x02,
  kUnsignalledFlag = 0x04,
  kBarrierFenceFlag = 0x08,
  kThresholdFlag = 0x10,
};

// Numbered as DAT_QOS; all are granted, none changes anything.
inline constexpr std::uint32_t kAllQos = 0x0f;

// Numbered as DAT_WATERMARK_INFINITE.
inline constexpr std::int32_t kNoWatermark = -1;

// DAT_IB_SERVICE_TYPE_UD.
inline constexpr std::uint32_t kDatagramService = 1;

struct EndpointAttributes {
  std::uint32_t service_type = 0;  // 0: reliable connection; kDatagramService
  std::uint64_t max_message_size = 0;
  std::uint64_t max_rdma_size = 0;
  std::uint32_t qos = 0;
  std::uint32_t recv_completion_flags = 0;     // CompletionFlag
  std::uint32_t request_completion_flags = 0;  // CompletionFlag
  std::int32_t max_recv_dtos = 0;
  std::int32_t max_request_dtos = 0;
  std::int32_t max_recv_iov = 0;
  std::int32_t max_request_iov = 0;
  std::int32_t max_rdma_read_in = 0;
  std::int32_t max_rdma_read_out = 0;
  std::int32_t srq_soft_hw = 0;  // a soft high watermark; kNoWatermark
  std::int32_t max_rdma_read_iov = 0;
  std::int32_t max_rdma_write_iov = 0;
};

// What an EP gets that asks for nothing.
EndpointAttributes default_attributes(const hca::DeviceAttributes& device);

// INVALID_PARAMETER with `argument` for counts that are negative or beyond the device and for
// contradictory flags; MODEL_NOT_SUPPORTED for another service type or unknown QoS.
Status check_attributes(const EndpointAttributes& attributes, const hca::DeviceAttributes& device,
                        StatusDetail argument);

// The same with every zero that means "you choose" replaced by the default: what dat_ep_query shows
// and dat_ep_create takes back.
EndpointAttributes complete_attributes(EndpointAttributes attributes, const hca::DeviceAttributes& device);

hca::QueuePairLimits limits_of(const EndpointAttributes& complete);

NotifyMode recv_mode_of(const EndpointAttributes& attributes);
NotifyMode request_mode_of(const EndpointAttributes& attributes);

}  // namespace softdat::object
