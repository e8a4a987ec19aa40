// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_attributes.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>

#include "libdat/object/limit.h"
#include "libdat/object/refusal.h"

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
           {"max_rdma_read_in", a.max_rdma_read_in, device.max_ird, "max_rdma_read_per_ep_in"},
           {"max_rdma_read_out", a.max_rdma_read_out, device.max_ord, "max_rdma_read_per_ep_out"},
           {"max_rdma_read_iov", a.max_rdma_read_iov, device.max_read_sge, "max_iov_segments_per_rdma_read"},
           {"max_rdma_write_iov", a.max_rdma_write_iov, device.max_sge, "max_iov_segments_per_rdma_write"}}};
}

std::string hex_text(std::uint32_t number) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%x", number);
  return text;
}

Status refuse_field(const Status& status, const char* name, const std::string& value, const char* rule) {
  return because(status, [&] { return std::string(name) + " of the attributes is " + value + "; " + rule; });
}

// dat_ep_create(3DAT): the flags choose one notification model for each direction.
Status check_flags(const EndpointAttributes& a, StatusDetail argument) {
  const Status status = invalid_parameter(argument);
  if ((a.recv_completion_flags & ~kRecvFlags) != 0 || has_several(a.recv_completion_flags)) {
    return refuse_field(status, "recv_completion_flags", hex_text(a.recv_completion_flags),
                        "one of DAT_COMPLETION_SOLICITED_WAIT_FLAG, DAT_COMPLETION_UNSIGNALLED_FLAG and "
                        "DAT_COMPLETION_EVD_THRESHOLD_FLAG is allowed, or DAT_COMPLETION_DEFAULT_FLAG");
  }
  if ((a.request_completion_flags & ~kRequestFlags) != 0) {
    return refuse_field(status, "request_completion_flags", hex_text(a.request_completion_flags),
                        "that is more than the DAT_COMPLETION_xxx_FLAGs");
  }
  if (has_several(a.request_completion_flags & (kUnsignalledFlag | kThresholdFlag))) {
    return refuse_field(status, "request_completion_flags", hex_text(a.request_completion_flags),
                        "DAT_COMPLETION_UNSIGNALLED_FLAG and DAT_COMPLETION_EVD_THRESHOLD_FLAG exclude each other");
  }
  return kOk;
}

// DAT 1.2 maps every value that is not DAT_SERVICE_TYPE_RC to ~0, so that one has words instead of a number.
std::string service_text(std::uint32_t service_type) {
  return service_type == ~std::uint32_t{0} ? "not DAT_SERVICE_TYPE_RC" : std::to_string(service_type);
}

// 0 leaves the choice to the provider.
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
  result.max_rdma_read_in = static_cast<std::int32_t>(device.max_ird);
  result.max_rdma_read_out = static_cast<std::int32_t>(device.max_ord);
  result.srq_soft_hw = kNoWatermark;
  result.max_rdma_read_iov = at_most(result.max_request_iov, device.max_read_sge);
  result.max_rdma_write_iov = result.max_request_iov;
  return result;
}

Status check_attributes(const EndpointAttributes& attributes, const hca::DeviceAttributes& device,
                        StatusDetail argument) {
  if (attributes.service_type > kDatagramService) {
    return refuse_field(model_not_supported(), "service_type", service_text(attributes.service_type),
                        "the adapter has DAT_SERVICE_TYPE_RC (0), and by its extension DAT_IB_SERVICE_TYPE_UD (1)");
  }
  if ((attributes.qos & ~kAllQos) != 0) {
    return refuse_field(model_not_supported(), "qos", hex_text(attributes.qos),
                        "that is more than the flags of DAT_QOS (0x1 to 0x8); DAT_QOS_BEST_EFFORT is 0");
  }
  for (const CountLimit& count : counts_of(attributes, device)) {
    if (count.asked >= 0 && static_cast<std::uint64_t>(count.asked) <= count.most) continue;
    return beyond_limit(invalid_parameter(argument), device, count);
  }
  if (attributes.srq_soft_hw < kNoWatermark) {
    return refuse_field(invalid_parameter(argument), "srq_soft_hw", std::to_string(attributes.srq_soft_hw),
                        "0 or more is allowed, or DAT_HW_DEFAULT");
  }
  return check_flags(attributes, argument);
}

// Not the numbers of RDMA reads, where 0 means none.
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
  // A queue pair has one limit for the segments of all requests.
  const std::int32_t request_iov =
      std::max({complete.max_request_iov, complete.max_rdma_read_iov, complete.max_rdma_write_iov});
  return {.send_wr = limit_of(complete.max_request_dtos),
          .recv_wr = limit_of(complete.max_recv_dtos),
          .send_sge = limit_of(request_iov),
          .recv_sge = limit_of(complete.max_recv_iov),
          .ird = limit_of(complete.max_rdma_read_in),
          .ord = limit_of(complete.max_rdma_read_out)};
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
