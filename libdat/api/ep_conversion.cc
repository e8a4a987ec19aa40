// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/ep_conversion.h"

#include "base/assert.h"
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/numbers.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::EndpointAttributes;
using object::EndpointParameters;
using object::EndpointState;

static_assert(std::uint32_t{object::kSuppressFlag} == DAT_COMPLETION_SUPPRESS_FLAG);
static_assert(std::uint32_t{object::kSolicitedWaitFlag} == DAT_COMPLETION_SOLICITED_WAIT_FLAG);
static_assert(std::uint32_t{object::kUnsignalledFlag} == DAT_COMPLETION_UNSIGNALLED_FLAG);
static_assert(std::uint32_t{object::kBarrierFenceFlag} == DAT_COMPLETION_BARRIER_FENCE_FLAG);
static_assert(std::uint32_t{object::kThresholdFlag} == DAT_COMPLETION_EVD_THRESHOLD_FLAG);
static_assert(int(EndpointState::kUnconnected) == DAT_EP_STATE_UNCONNECTED);
static_assert(int(EndpointState::kReserved) == DAT_EP_STATE_RESERVED);
static_assert(int(EndpointState::kPassiveConnectionPending) == DAT_EP_STATE_PASSIVE_CONNECTION_PENDING);
static_assert(int(EndpointState::kActiveConnectionPending) == DAT_EP_STATE_ACTIVE_CONNECTION_PENDING);
static_assert(int(EndpointState::kTentativeConnectionPending) == DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
static_assert(int(EndpointState::kConnected) == DAT_EP_STATE_CONNECTED);
static_assert(int(EndpointState::kDisconnectPending) == DAT_EP_STATE_DISCONNECT_PENDING);
static_assert(int(EndpointState::kDisconnected) == DAT_EP_STATE_DISCONNECTED);
static_assert(int(EndpointState::kCompletionPending) == DAT_EP_STATE_COMPLETION_PENDING);

// Copies one member when the mask asks for it; enums travel as the numbers they are.
template <typename From, typename To>
void read(DAT_EP_PARAM_MASK mask, DAT_EP_PARAM_MASK field, const From& from, To& to) {
  if ((mask & field) == 0) return;
  if constexpr (std::is_enum_v<From>)
    to = number_of(from);
  else
    to = from;
}

}  // namespace

void read_attributes(const DAT_EP_ATTR& from, DAT_EP_PARAM_MASK mask, EndpointAttributes& to) {
  read(mask, DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE, from.service_type, to.service_type);
#if SOFTDAT_ABI == 12
  // Nothing but reliable connections has a name in this API.
  if (to.service_type != DAT_SERVICE_TYPE_RC) to.service_type = ~std::uint32_t{0};
#endif
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE, from.max_message_size, to.max_message_size);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE, from.max_rdma_size, to.max_rdma_size);
  read(mask, DAT_EP_FIELD_EP_ATTR_QOS, from.qos, to.qos);
  read(mask, DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS, from.recv_completion_flags, to.recv_completion_flags);
  read(mask, DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS, from.request_completion_flags, to.request_completion_flags);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, from.max_recv_dtos, to.max_recv_dtos);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS, from.max_request_dtos, to.max_request_dtos);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, from.max_recv_iov, to.max_recv_iov);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV, from.max_request_iov, to.max_request_iov);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN, from.max_rdma_read_in, to.max_rdma_read_in);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT, from.max_rdma_read_out, to.max_rdma_read_out);
  read(mask, DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW, from.srq_soft_hw, to.srq_soft_hw);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV, from.max_rdma_read_iov, to.max_rdma_read_iov);
  read(mask, DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV, from.max_rdma_write_iov, to.max_rdma_write_iov);
}

void write_attributes(const EndpointAttributes& from, DAT_EP_ATTR& to) {
  to = {};
  to.service_type = static_cast<DAT_SERVICE_TYPE>(from.service_type);
#if SOFTDAT_ABI == 20
  // DAT 2.0 has lengths of 32 bits: a larger limit is told as the largest of these.
  to.max_message_size = api::length32(from.max_message_size);
  to.max_rdma_size = api::length32(from.max_rdma_size);
#else
  to.max_message_size = from.max_message_size;
  to.max_rdma_size = from.max_rdma_size;
#endif
  to.qos = static_cast<DAT_QOS>(from.qos);
  to.recv_completion_flags = static_cast<DAT_COMPLETION_FLAGS>(from.recv_completion_flags);
  to.request_completion_flags = static_cast<DAT_COMPLETION_FLAGS>(from.request_completion_flags);
  to.max_recv_dtos = from.max_recv_dtos;
  to.max_request_dtos = from.max_request_dtos;
  to.max_recv_iov = from.max_recv_iov;
  to.max_request_iov = from.max_request_iov;
  to.max_rdma_read_in = from.max_rdma_read_in;
  to.max_rdma_read_out = from.max_rdma_read_out;
  to.srq_soft_hw = from.srq_soft_hw;
  to.max_rdma_read_iov = from.max_rdma_read_iov;
  to.max_rdma_write_iov = from.max_rdma_write_iov;
}

void write_parameters(const EndpointParameters& from, DAT_EP_PARAM& to) {
  SOFTDAT_DEBUG_CHECK(from.ia != nullptr, "an endpoint belongs to an IA");
  SOFTDAT_DEBUG_CHECK(from.state <= EndpointState::kCompletionPending, "the state of an endpoint is one of DAT's",
                      static_cast<std::uint64_t>(from.state));
  to = {};
  to.ia_handle = consumer_ia_handle(from.ia);
  to.ep_state = static_cast<DAT_EP_STATE>(from.state);
#if SOFTDAT_ABI == 20
  to.comm = {from.communicator.domain, from.communicator.type, from.communicator.protocol};
#endif
  to.local_ia_address_ptr = api::dat_address(from.local_address);
  to.local_port_qual = from.local_port_qual;
  to.remote_ia_address_ptr = api::dat_address(from.remote_address);
  to.remote_port_qual = from.remote_port_qual;
  to.pz_handle = from.pz;
  to.recv_evd_handle = from.recv_evd;
  to.request_evd_handle = from.request_evd;
  to.connect_evd_handle = from.connect_evd;
  to.srq_handle = from.srq;
  write_attributes(from.attributes, to.ep_attr);
}

// A count that the mask does not name may be undefined.
bool has_named_attributes(const DAT_EP_ATTR& attributes, DAT_EP_PARAM_MASK mask) {
  const bool asks_transport = (mask & DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR) != 0;
  const bool asks_provider = (mask & DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR) != 0;
  return (asks_transport && attributes.ep_transport_specific_count != 0) ||
         (asks_provider && attributes.ep_provider_specific_count != 0);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
