// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/event_conversion.h"

#include <gtest/gtest.h>

#include <cstring>

#include "libdat/api/provider_table.h"
#include "libdat/api/registered_ia.h"
#include "tests/libdat/api/fake_registry.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::AsyncErrorType;
using object::ConnectionResult;
using object::DtoOperation;
using object::DtoStatus;
using object::Event;
using object::Handle;

int somewhere[4];
const Handle kEvd = &somewhere[0];
const Handle kThing = &somewhere[1];

DAT_EVENT written(const Event& event) {
  DAT_EVENT to;
  std::memset(&to, 0x5a, sizeof(to));
  write_event(event, to);
  return to;
}

TEST(EventConversion, DtoCompletions) {
  const DAT_EVENT event = written({kEvd, object::DtoCompletion{kThing, 0x0123456789abcdef, 0xfffffffe,
                                                               DtoStatus::kSuccess, DtoOperation::kReceive}});
  EXPECT_EQ(event.event_number, DAT_DTO_COMPLETION_EVENT);
  EXPECT_EQ(event.evd_handle, kEvd);
  const auto& data = event.event_data.dto_completion_event_data;
  EXPECT_EQ(data.ep_handle, kThing);
  EXPECT_EQ(data.user_cookie.as_64, 0x0123456789abcdefu);
  EXPECT_EQ(data.transfered_length, 0xfffffffeu);
  EXPECT_EQ(data.status, DAT_DTO_SUCCESS);
#if SOFTDAT_ABI == 20
  EXPECT_EQ(data.operation, DAT_DTO_RECEIVE);
  EXPECT_EQ(data.rmr_context, 0u);
#endif
}

TEST(EventConversion, EveryDtoStatusKeepsItsName) {
  const std::pair<DtoStatus, DAT_DTO_COMPLETION_STATUS> names[] = {
      {DtoStatus::kSuccess, DAT_DTO_SUCCESS},
      {DtoStatus::kFlushed, DAT_DTO_ERR_FLUSHED},
      {DtoStatus::kLocalLength, DAT_DTO_ERR_LOCAL_LENGTH},
      {DtoStatus::kLocalEp, DAT_DTO_ERR_LOCAL_EP},
      {DtoStatus::kLocalProtection, DAT_DTO_ERR_LOCAL_PROTECTION},
      {DtoStatus::kBadResponse, DAT_DTO_ERR_BAD_RESPONSE},
      {DtoStatus::kRemoteAccess, DAT_DTO_ERR_REMOTE_ACCESS},
      {DtoStatus::kRemoteResponder, DAT_DTO_ERR_REMOTE_RESPONDER},
      {DtoStatus::kTransport, DAT_DTO_ERR_TRANSPORT},
      {DtoStatus::kReceiverNotReady, DAT_DTO_ERR_RECEIVER_NOT_READY},
  };
  for (const auto& [status, name] : names)
    EXPECT_EQ(written({kEvd, object::DtoCompletion{kThing, 0, 0, status, DtoOperation::kSend}})
                  .event_data.dto_completion_event_data.status,
              name);
}

TEST(EventConversion, ConnectionRequests) {
  object::SocketAddress address;
  address.inet.sin_family = AF_INET;
  const DAT_EVENT event = written({kEvd, object::RequestArrival{kThing, &address, 0xfedcba9876543210, &somewhere[2]}});
  EXPECT_EQ(event.event_number, DAT_CONNECTION_REQUEST_EVENT);
  const auto& data = event.event_data.cr_arrival_event_data;
  EXPECT_EQ(data.sp_handle.psp_handle, kThing);
  EXPECT_EQ(data.local_ia_address_ptr->sa_family, AF_INET);
  EXPECT_EQ(data.conn_qual, 0xfedcba9876543210u);
  EXPECT_EQ(data.cr_handle, static_cast<DAT_CR_HANDLE>(&somewhere[2]));
#if SOFTDAT_ABI == 20
  EXPECT_EQ(data.truncate_flag, DAT_FALSE);
#endif
}

TEST(EventConversion, EveryConnectionResultKeepsItsName) {
  const std::pair<ConnectionResult, DAT_EVENT_NUMBER> names[] = {
      {ConnectionResult::kEstablished, DAT_CONNECTION_EVENT_ESTABLISHED},
      {ConnectionResult::kPeerRejected, DAT_CONNECTION_EVENT_PEER_REJECTED},
      {ConnectionResult::kNonPeerRejected, DAT_CONNECTION_EVENT_NON_PEER_REJECTED},
      {ConnectionResult::kAcceptCompletionError, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR},
      {ConnectionResult::kDisconnected, DAT_CONNECTION_EVENT_DISCONNECTED},
      {ConnectionResult::kBroken, DAT_CONNECTION_EVENT_BROKEN},
      {ConnectionResult::kTimedOut, DAT_CONNECTION_EVENT_TIMED_OUT},
      {ConnectionResult::kUnreachable, DAT_CONNECTION_EVENT_UNREACHABLE},
  };
  const char data[] = "private";
  for (const auto& [result, name] : names) {
    const DAT_EVENT event = written({kEvd, object::ConnectionNotice{kThing, data, 8, result}});
    EXPECT_EQ(event.event_number, name);
    EXPECT_EQ(event.event_data.connect_event_data.ep_handle, kThing);
    EXPECT_EQ(event.event_data.connect_event_data.private_data_size, 8);
    EXPECT_EQ(event.event_data.connect_event_data.private_data, data);
  }
}

TEST(EventConversion, EveryAsynchronousErrorKeepsItsName) {
  const std::pair<AsyncErrorType, DAT_EVENT_NUMBER> names[] = {
      {AsyncErrorType::kEvdOverflow, DAT_ASYNC_ERROR_EVD_OVERFLOW},
      {AsyncErrorType::kEpBroken, DAT_ASYNC_ERROR_EP_BROKEN},
      {AsyncErrorType::kTimedOut, DAT_ASYNC_ERROR_TIMED_OUT},
      {AsyncErrorType::kProviderInternalError, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR},
  };
  for (const auto& [type, name] : names) {
    const DAT_EVENT event = written({kEvd, object::AsyncError{kThing, 1, type}});
    EXPECT_EQ(event.event_number, name);
    EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, kThing);
    EXPECT_EQ(event.event_data.asynch_error_event_data.reason, 1);
  }
}

// Under a DAT 2.0 registry consumers know IAs by small integers.
TEST(EventConversion, AnErrorOfTheIaNamesItAsTheConsumerDoes) {
  RegisteredIa registered;
  registered.table = provider_table("sim0", &registered, false);
  registered.registry = api::find_calling_registry(__builtin_return_address(0));
  const void* cell[2] = {&registered.table, nullptr};
  const auto integer = reinterpret_cast<void*>(7);
  api::set_integer_of(cell, integer);
  const DAT_EVENT event = written({kEvd, object::AsyncError{cell, 0, AsyncErrorType::kIaCatastrophic}});
  api::set_integer_of(nullptr, nullptr);
  EXPECT_EQ(event.event_number, DAT_ASYNC_ERROR_IA_CATASTROPHIC);
  const void* expected = kAbi == 20 ? integer : static_cast<const void*>(cell);
  EXPECT_EQ(event.event_data.asynch_error_event_data.dat_handle, expected);
}

TEST(EventConversion, SoftwareEventsAndBinds) {
  const DAT_EVENT software = written({kEvd, object::SoftwareEvent{kThing}});
  EXPECT_EQ(software.event_number, DAT_SOFTWARE_EVENT);
  EXPECT_EQ(software.event_data.software_event_data.pointer, kThing);
  const DAT_EVENT bind = written({kEvd, object::RmrBindCompletion{kThing, 77, DtoStatus::kFlushed}});
  EXPECT_EQ(bind.event_number, DAT_RMR_BIND_COMPLETION_EVENT);
  EXPECT_EQ(bind.event_data.rmr_completion_event_data.rmr_handle, kThing);
  EXPECT_EQ(bind.event_data.rmr_completion_event_data.user_cookie.as_64, 77u);
  EXPECT_EQ(bind.event_data.rmr_completion_event_data.status, DAT_DTO_ERR_FLUSHED);
}

}  // namespace
}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
