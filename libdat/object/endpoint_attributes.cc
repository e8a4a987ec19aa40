// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_attributes.h"

#include <algorithm>
#include <array>

#include "libdat/object/limit.h"

namespace softdat::object {
namespace {

constexpr std::int32_t kDefaultDtos = 128;
constexpr std::int32_t kDefaultIov = 8;

constexpr std::uint32_t kRecvFlags = kSolicitedWaitFlag | kUnsignalledFlag | kThresholdFlag;
// Of an EP's requests only UNSIGNALLED is a property; the others may be named and change nothing.
constexpr std::uint32_t kRequestFlags =
    kSuppressFlag | kSolicitedWaitFlag | kUnsignalledFlag | kBarrierFenceFlag | kThresholdFlag;

std::int32_t at_most(std::int32_t wish, std::uint32_t limit) {
  return static_cast<std::int32_t>(std::min(static_cast<std::uint32_t>(wish), limit));
}

bool has_several(std::uint32_t flags) {
  return (flags & (flags - 1)) != 0;
}

std::array<CountLimit, 8> counts_of(const EndpointAttributes& a, const hca::DeviceAttributes& device) {
  return {{{"max_recv_dtos", a.max_recv_dtos, device.max_wr, "max_dto_per_ep"},
           {"max_request_dtos", a.max_request_dtos, device.max_wr, "max_dto_per_ep"},
           {"max_recv_iov", a.max_recv_iov, device.max_sge, "max_iov_segments_per_dto"},
           {"max_request_iov", a.max_request_iov, device.max_sge, "max_iov_segments_per_dto"},
           {"max_rdma_read_in", a.max_rdma_read_in, device.max_reads_in, "max_rdma_read_per_ep_in"},
           {"max_rdma_read_out", a.max_rdma_read_out, device.max_reads_out, "max_rdma_read_per_ep_out"},
           {"max_rdma_read_iov", a.max_rdma_read_iov, device.max_read_sge, "max_iov_segments_per_rdma_read"},
           {"max_rdma_write_iov", a.max_rdma_write_iov, device.max_sge, "max_iov_segments_per_rdma_write"}}};
}

bool are_flags_good(const EndpointAttributes& a) {
  if ((a.recv_completion_flags & ~kRecvFlags) != 0) return false;
  if ((a.request_completion_flags & ~kRequestFlags) != 0) return false;
  const std::uint32_t request_mode = a.request_completion_flags & (kUnsignalledFlag | kThresholdFlag);
  return !has_several(a.recv_completion_flags) && !has_several(request_mode);
}

template <typename T>
void fill_in(T& value, T choice) {
  if (value == 0) value = choice;
}

std::uint32_t limit_of(std::int32_t count) {
  return static_cast<std::uint32_t>(count);
}

}  // namespace

EndpointAttributes default_attributes(const hca::DeviceAttributes& device) {
  EndpointAttributes result;
  result.max_message_size = device.max_message_size;
  result.max_rdma_size = device.max_message_size;
  result.max_recv_dtos = at_most(kDefaultDtos, device.max_wr);
  result.max_request_dtos = at_most(kDefaultDtos, device.max_wr);
  result.max_recv_iov = at_most(kDefaultIov, device.max_sge);
  result.max_request_iov = at_most(kDefaultIov, device.max_sge);
  result.max_rdma_read_in = static_cast<std::int32_t>(device.max_reads_in);
  result.max_rdma_read_out = static_cast<std::int32_t>(device.max_reads_out);
  result.srq_soft_hw = kNoWatermark;
  result.max_rdma_read_iov = at_most(result.max_request_iov, device.max_read_sge);
  result.max_rdma_write_iov = result.max_request_iov;
  return result;
}

Status check_attributes(const EndpointAttributes& attributes, const hca::DeviceAttributes& device,
                        StatusDetail argument) {
  if (attributes.service_type > kDatagramService) return model_not_supported();
  if ((attributes.qos & ~kAllQos) != 0) return model_not_supported();
  for (const CountLimit& count : counts_of(attributes, device)) {
    if (count.asked >= 0 && static_cast<std::uint64_t>(count.asked) <= count.most) continue;
    return beyond_limit(invalid_parameter(argument), device, count);
  }
  const bool is_good = attributes.srq_soft_hw >= kNoWatermark && are_flags_good(attributes);
  return is_good ? kOk : invalid_parameter(argument);
}

EndpointAttributes complete_attributes(EndpointAttributes attributes, const hca::DeviceAttributes& device) {
  const EndpointAttributes choice = default_attributes(device);
  fill_in(attributes.max_message_size, choice.max_message_size);
  fill_in(attributes.max_rdma_size, choice.max_rdma_size);
  fill_in(attributes.max_recv_dtos, choice.max_recv_dtos);
  fill_in(attributes.max_request_dtos, choice.max_request_dtos);
  fill_in(attributes.max_recv_iov, choice.max_recv_iov);
  fill_in(attributes.max_request_iov, choice.max_request_iov);
  fill_in(attributes.srq_soft_hw, choice.srq_soft_hw);
  fill_in(attributes.max_rdma_read_iov, at_most(attributes.max_request_iov, device.max_read_sge));
  fill_in(attributes.max_rdma_write_iov, attributes.max_request_iov);
  return attributes;
}

hca::QueuePairLimits limits_of(const EndpointAttributes& complete) {
  const std::int32_t request_iov =
      std::max({complete.max_request_iov, complete.max_rdma_read_iov, complete.max_rdma_write_iov});
  return {.send_wr = limit_of(complete.max_request_dtos),
          .recv_wr = limit_of(complete.max_recv_dtos),
          .send_sge = limit_of(request_iov),
          .recv_sge = limit_of(complete.max_recv_iov),
          .reads_in = limit_of(complete.max_rdma_read_in),
          .reads_out = limit_of(complete.max_rdma_read_out)};
}

NotifyMode recv_mode_of(const EndpointAttributes& attributes) {
  if ((attributes.recv_completion_flags & kUnsignalledFlag) != 0) return NotifyMode::kUnsignalled;
  if ((attributes.recv_completion_flags & kSolicitedWaitFlag) != 0) return NotifyMode::kSolicited;
  return NotifyMode::kThreshold;
}

NotifyMode request_mode_of(const EndpointAttributes& attributes) {
  return (attributes.request_completion_flags & kUnsignalledFlag) != 0 ? NotifyMode::kUnsignalled
                                                                       : NotifyMode::kThreshold;
}

}  // namespace softdat::object
