// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/event_conversion.h"

#include <cstring>
#include <optional>

#include "base/assert.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/numbers.h"
#include "libdat/object/hca_status.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::AsyncError;
using object::AsyncErrorType;
using object::ConnectionNotice;
using object::ConnectionResult;
using object::DatagramNotice;
using object::DtoCompletion;
using object::DtoOperation;
using object::DtoStatus;
using object::RequestArrival;
using object::RmrBindCompletion;
using object::SoftwareEvent;

// The numbers that event.h promises to share with the DAT headers.
static_assert(int(DtoStatus::kFlushed) == DAT_DTO_ERR_FLUSHED);
static_assert(int(DtoStatus::kLocalLength) == DAT_DTO_ERR_LOCAL_LENGTH);
static_assert(int(DtoStatus::kLocalEp) == DAT_DTO_ERR_LOCAL_EP);
static_assert(int(DtoStatus::kLocalProtection) == DAT_DTO_ERR_LOCAL_PROTECTION);
static_assert(int(DtoStatus::kBadResponse) == DAT_DTO_ERR_BAD_RESPONSE);
static_assert(int(DtoStatus::kRemoteAccess) == DAT_DTO_ERR_REMOTE_ACCESS);
static_assert(int(DtoStatus::kRemoteResponder) == DAT_DTO_ERR_REMOTE_RESPONDER);
static_assert(int(DtoStatus::kTransport) == DAT_DTO_ERR_TRANSPORT);
static_assert(int(DtoStatus::kReceiverNotReady) == DAT_DTO_ERR_RECEIVER_NOT_READY);
static_assert(int(DtoStatus::kRmrOperationFailed) == DAT_RMR_OPERATION_FAILED);

DAT_DTO_COMPLETION_STATUS status_of(DtoStatus status) {
  return static_cast<DAT_DTO_COMPLETION_STATUS>(status);
}

#if SOFTDAT_ABI == 20

static_assert(int(DtoOperation::kRdmaWriteImmediate) == DAT_IB_DTO_RDMA_WRITE_IMMED);
static_assert(int(DtoOperation::kReceiveRdmaImmediate) == DAT_IB_DTO_RECV_IMMED);
static_assert(int(DtoOperation::kFetchAdd) == DAT_IB_DTO_FETCH_ADD);
static_assert(int(DtoOperation::kCompareSwap) == DAT_IB_DTO_CMP_SWAP);
static_assert(int(DtoOperation::kReceiveImmediate) == DAT_IB_DTO_RECV_MSG_IMMED);
static_assert(int(DtoOperation::kSendDatagram) == DAT_IB_DTO_SEND_UD);
static_assert(int(DtoOperation::kReceiveDatagram) == DAT_IB_DTO_RECV_UD);
static_assert(sizeof(DAT_IB_EXTENSION_EVENT_DATA) == sizeof(DAT_EVENT::event_extension_data));

// Nothing for the operations of DAT itself.
std::optional<DAT_IB_EXT_TYPE> extension_type(DtoOperation operation) {
  switch (operation) {
    case DtoOperation::kSend:
    case DtoOperation::kRdmaWrite:
    case DtoOperation::kRdmaRead:
    case DtoOperation::kReceive:
    case DtoOperation::kReceiveWithInvalidate:
      return std::nullopt;
    case DtoOperation::kRdmaWriteImmediate:
      return DAT_IB_RDMA_WRITE_IMMED;
    case DtoOperation::kReceiveRdmaImmediate:
      return DAT_IB_RDMA_WRITE_IMMED_DATA;
    case DtoOperation::kFetchAdd:
      return DAT_IB_FETCH_AND_ADD;
    case DtoOperation::kCompareSwap:
      return DAT_IB_CMP_AND_SWAP;
    case DtoOperation::kReceiveImmediate:
      return DAT_IB_RECV_IMMED_DATA;
    case DtoOperation::kSendDatagram:
      return DAT_IB_UD_SEND;
    case DtoOperation::kReceiveDatagram:
      return DAT_IB_UD_RECV;
  }
  return std::nullopt;
}

void write_extension(const DAT_IB_EXTENSION_EVENT_DATA& data, DAT_EVENT& to) {
  std::memcpy(to.event_extension_data, &data, sizeof(data));
}

// Operations of the extension have an event number of their own, beside the fields of a DAT completion.
[[gnu::noinline]] void write_extension(const DtoCompletion& from, DAT_IB_EXT_TYPE type, DAT_EVENT& to) {
  DAT_IB_EXTENSION_EVENT_DATA data{};
  data.type = type;
  data.status = from.status == DtoStatus::kSuccess ? DAT_OP_SUCCESS : DAT_IB_OP_ERR;
  data.val.immed.data = from.immediate;
  to.event_number = static_cast<DAT_EVENT_NUMBER>(DAT_IB_DTO_EVENT);
  write_extension(data, to);
}

#endif

void write_body(const DtoCompletion& from, DAT_EVENT& to) {
  auto& data = to.event_data.dto_completion_event_data;
  to.event_number = DAT_DTO_COMPLETION_EVENT;
  SOFTDAT_DEBUG_CHECK(from.ep != nullptr, "a completion names its EP");
  SOFTDAT_DEBUG_CHECK(from.status == DtoStatus::kSuccess || from.length == 0, "a failure transfers no bytes that count",
                      from.length);
  data.ep_handle = from.ep;
  data.user_cookie.as_64 = from.cookie;
  data.status = status_of(from.status);
  data.transfered_length = from.length;
#if SOFTDAT_ABI == 20
  static_assert(int(DtoOperation::kSend) == DAT_DTO_SEND);
  static_assert(int(DtoOperation::kRdmaWrite) == DAT_DTO_RDMA_WRITE);
  static_assert(int(DtoOperation::kRdmaRead) == DAT_DTO_RDMA_READ);
  static_assert(int(DtoOperation::kReceive) == DAT_DTO_RECEIVE);
  static_assert(int(DtoOperation::kReceiveWithInvalidate) == DAT_DTO_RECEIVE_WITH_INVALIDATE);
  data.operation = static_cast<DAT_DTOS>(from.operation);
  data.rmr_context = from.invalidated;
  if (const auto type = extension_type(from.operation)) write_extension(from, *type, to);
#endif
}

void write_body(const RequestArrival& from, DAT_EVENT& to) {
  auto& data = to.event_data.cr_arrival_event_data;
  to.event_number = DAT_CONNECTION_REQUEST_EVENT;
  SOFTDAT_DEBUG_CHECK(from.service_point != nullptr && from.request != nullptr, "an arrival names both handles");
  // The union has handles of all service points; each is one pointer.
  data.sp_handle.psp_handle = from.service_point;
  data.local_ia_address_ptr = api::dat_address(from.local_address);
  data.conn_qual = from.conn_qual;
  data.cr_handle = from.request;
#if SOFTDAT_ABI == 20
  data.truncate_flag = DAT_FALSE;
  if (!from.is_datagram) return;
  DAT_IB_EXTENSION_EVENT_DATA extension{};
  extension.type = DAT_IB_UD_CONNECT_REQUEST;
  to.event_number = static_cast<DAT_EVENT_NUMBER>(DAT_IB_UD_CONNECTION_REQUEST_EVENT);
  write_extension(extension, to);
#endif
}

DAT_EVENT_NUMBER number_of_result(ConnectionResult result) {
  switch (result) {
    case ConnectionResult::kEstablished:
      return DAT_CONNECTION_EVENT_ESTABLISHED;
    case ConnectionResult::kPeerRejected:
      return DAT_CONNECTION_EVENT_PEER_REJECTED;
    case ConnectionResult::kNonPeerRejected:
      return DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
    case ConnectionResult::kAcceptCompletionError:
      return DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR;
    case ConnectionResult::kDisconnected:
      return DAT_CONNECTION_EVENT_DISCONNECTED;
    case ConnectionResult::kBroken:
      return DAT_CONNECTION_EVENT_BROKEN;
    case ConnectionResult::kTimedOut:
      return DAT_CONNECTION_EVENT_TIMED_OUT;
    case ConnectionResult::kUnreachable:
      return DAT_CONNECTION_EVENT_UNREACHABLE;
  }
  return DAT_CONNECTION_EVENT_BROKEN;
}

void write_body(const ConnectionNotice& from, DAT_EVENT& to) {
  auto& data = to.event_data.connect_event_data;
  to.event_number = number_of_result(from.result);
  SOFTDAT_DEBUG_CHECK(from.ep != nullptr, "a connection event names its EP");
  SOFTDAT_DEBUG_CHECK(from.private_data != nullptr || from.private_data_size == 0, "private data has a place",
                      from.private_data_size);
  data.ep_handle = from.ep;
  data.private_data_size = api::dat_count(from.private_data_size);
  data.private_data = const_cast<void*>(from.private_data);
}

#if SOFTDAT_ABI == 20

static_assert(sizeof(object::SocketAddress) == sizeof(DAT_SOCK_ADDR6));

DAT_IB_EXTENSION_EVENT_DATA extension_of(const DatagramNotice& from) {
  DAT_IB_EXTENSION_EVENT_DATA data{};
  SOFTDAT_DEBUG_CHECK(from.exchange != 0, "an exchange of address handles has a name");
  data.context.as_64 = from.exchange;
  switch (from.result) {
    case ConnectionResult::kEstablished:
      data.type = from.is_passive ? DAT_IB_UD_PASSIVE_REMOTE_AH : DAT_IB_UD_REMOTE_AH;
      data.remote_ah.ah = static_cast<ibv_ah*>(from.address_handle);
      data.remote_ah.qpn = from.qp_number;
      std::memcpy(&data.remote_ah.ia_addr, &from.peer, sizeof(from.peer));
      return data;
    case ConnectionResult::kPeerRejected:
    case ConnectionResult::kNonPeerRejected:
      data.type = DAT_IB_UD_CONNECT_REJECT;
      break;
    default:
      data.type = DAT_IB_UD_CONNECT_ERROR;
  }
  data.status = DAT_IB_OP_ERR;
  return data;
}

DAT_IB_EVENT_NUMBER number_of(DAT_IB_EXT_TYPE type) {
  if (type == DAT_IB_UD_CONNECT_REJECT) return DAT_IB_UD_CONNECTION_REJECT_EVENT;
  return type == DAT_IB_UD_CONNECT_ERROR ? DAT_IB_UD_CONNECTION_ERROR_EVENT : DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED;
}

#endif

// DAT 1.2 has no endpoints for datagrams.
void write_body(const DatagramNotice& from, DAT_EVENT& to) {
  // The fields of a connection event stay valid beside those of the extension.
  write_body(ConnectionNotice{from.ep, from.private_data, from.private_data_size, from.result}, to);
#if SOFTDAT_ABI == 20
  const DAT_IB_EXTENSION_EVENT_DATA data = extension_of(from);
  to.event_number = static_cast<DAT_EVENT_NUMBER>(number_of(data.type));
  write_extension(data, to);
#endif
}

DAT_EVENT_NUMBER number_of_error(AsyncErrorType type) {
  switch (type) {
    case AsyncErrorType::kEvdOverflow:
      return DAT_ASYNC_ERROR_EVD_OVERFLOW;
    case AsyncErrorType::kIaCatastrophic:
      return DAT_ASYNC_ERROR_IA_CATASTROPHIC;
    case AsyncErrorType::kEpBroken:
      return DAT_ASYNC_ERROR_EP_BROKEN;
    case AsyncErrorType::kTimedOut:
      return DAT_ASYNC_ERROR_TIMED_OUT;
    case AsyncErrorType::kProviderInternalError:
      return DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR;
  }
  return DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR;
}

void write_body(const AsyncError& from, DAT_EVENT& to) {
  auto& data = to.event_data.asynch_error_event_data;
  to.event_number = number_of_error(from.type);
  // The registry's handle of an IA differs from ours (an integer in DAT 2.0).
  data.dat_handle = from.type == AsyncErrorType::kIaCatastrophic ? consumer_ia_handle(from.object) : from.object;
  data.reason = from.reason;
}

void write_body(const SoftwareEvent& from, DAT_EVENT& to) {
  to.event_number = DAT_SOFTWARE_EVENT;
  to.event_data.software_event_data.pointer = from.pointer;
}

void write_body(const RmrBindCompletion& from, DAT_EVENT& to) {
  auto& data = to.event_data.rmr_completion_event_data;
  to.event_number = DAT_RMR_BIND_COMPLETION_EVENT;
  SOFTDAT_DEBUG_CHECK(from.rmr != nullptr, "a bind names its RMR");
  data.rmr_handle = from.rmr;
  data.user_cookie.as_64 = from.cookie;
  data.status = status_of(from.status);
}

// Not inline: binds are rare, and a dequeue is to stay small.
[[gnu::noinline]] void write_bind(const hca::Completion& from, object::Handle evd, DAT_EVENT& to) {
  object::Event event{.evd = evd, .body = {}};
  object::write_completion(from, event);
  write_event(event, to);
}

}  // namespace

void write_event(const object::Event& from, DAT_EVENT& to) {
  SOFTDAT_DEBUG_CHECK(from.evd != nullptr, "an event names the EVD that it came through");
  to.evd_handle = from.evd;
  std::visit([&](const auto& body) { write_body(body, to); }, from.body);
}

// Not inlined into evd_dequeue(), because most polls find nothing.
[[gnu::noinline, gnu::flatten]] void write_event(const hca::Completion& from, object::Handle evd, DAT_EVENT& to) {
  if (from.opcode == hca::CompletionOpcode::kBind) [[unlikely]]
    return write_bind(from, evd, to);
  to.evd_handle = evd;
  write_body(object::dto_completion(from), to);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
