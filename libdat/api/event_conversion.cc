// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/event_conversion.h"

#include "libdat/api/consumer_handle.h"
#include "libdat/api/numbers.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::AsyncError;
using object::AsyncErrorType;
using object::ConnectionNotice;
using object::ConnectionResult;
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

void write_body(const DtoCompletion& from, DAT_EVENT& to) {
  auto& data = to.event_data.dto_completion_event_data;
  to.event_number = DAT_DTO_COMPLETION_EVENT;
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
#endif
}

void write_body(const RequestArrival& from, DAT_EVENT& to) {
  auto& data = to.event_data.cr_arrival_event_data;
  to.event_number = DAT_CONNECTION_REQUEST_EVENT;
  data.sp_handle.psp_handle = from.service_point;
  data.local_ia_address_ptr = api::dat_address(from.local_address);
  data.conn_qual = from.conn_qual;
  data.cr_handle = from.request;
#if SOFTDAT_ABI == 20
  data.truncate_flag = DAT_FALSE;
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
  data.ep_handle = from.ep;
  data.private_data_size = api::dat_count(from.private_data_size);
  data.private_data = const_cast<void*>(from.private_data);
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
  data.rmr_handle = from.rmr;
  data.user_cookie.as_64 = from.cookie;
  data.status = status_of(from.status);
}

}  // namespace

void write_event(const object::Event& from, DAT_EVENT& to) {
  to.evd_handle = from.evd;
  std::visit([&](const auto& body) { write_body(body, to); }, from.body);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
