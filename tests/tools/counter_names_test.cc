// SPDX-License-Identifier: BSD-2-Clause
// The tools know counters by numbers, because they may not include the rooms that count. The numbers are these.
#include <gtest/gtest.h>

#include "hca/counters.h"
#include "libdat/object/counters.h"
#include "libdat/object/endpoint_state.h"
#include "tools/softdat/observe/names.h"

namespace softdat::tools::observe {
namespace {

std::string transfer(hca::Transfer which) {
  return kTransferNames[static_cast<std::size_t>(which)];
}
std::string status(hca::CompletionStatus which) {
  return kStatusNames[static_cast<std::size_t>(which)];
}

TEST(CounterNames, OfTransfers) {
  using hca::Transfer;
  EXPECT_EQ(kTransferNames.size(), hca::kTransfers);
  EXPECT_EQ(transfer(Transfer::kPostSend), "send");
  EXPECT_EQ(transfer(Transfer::kPostDatagram), "datagram");
  EXPECT_EQ(transfer(Transfer::kPostRecv), "post_recv");
  EXPECT_EQ(transfer(Transfer::kPostWrite), "write");
  EXPECT_EQ(transfer(Transfer::kPostWriteImmediate), "write_imm");
  EXPECT_EQ(transfer(Transfer::kPostRead), "read");
  EXPECT_EQ(transfer(Transfer::kPostCompareSwap), "compare_swap");
  EXPECT_EQ(transfer(Transfer::kPostFetchAdd), "fetch_add");
  EXPECT_EQ(transfer(Transfer::kRecv), "recv");
  EXPECT_EQ(transfer(Transfer::kRecvDatagram), "recv_datagram");
  EXPECT_EQ(transfer(Transfer::kRecvImmediate), "recv_imm");
  EXPECT_EQ(transfer(Transfer::kRecvWriteImmediate), "recv_write_imm");
  EXPECT_EQ(transfer(Transfer::kPostBind), "bind");
}

TEST(CounterNames, OfStatuses) {
  using hca::CompletionStatus;
  EXPECT_EQ(kStatusNames.size(), hca::kCompletionStatuses);
  EXPECT_EQ(status(CompletionStatus::kSuccess), "success");
  EXPECT_EQ(status(CompletionStatus::kLocalLength), "local_length");
  EXPECT_EQ(status(CompletionStatus::kLocalProtection), "local_protection");
  EXPECT_EQ(status(CompletionStatus::kFlushed), "flushed");
  EXPECT_EQ(status(CompletionStatus::kRemoteAccess), "remote_access");
  EXPECT_EQ(status(CompletionStatus::kRemoteOperation), "remote_operation");
  EXPECT_EQ(status(CompletionStatus::kRetryExceeded), "retry_exceeded");
  EXPECT_EQ(status(CompletionStatus::kRnrRetryExceeded), "rnr_retry_exceeded");
  EXPECT_EQ(status(CompletionStatus::kBadResponse), "bad_response");
  EXPECT_EQ(status(CompletionStatus::kBindFailed), "bind_failed");
}

std::size_t event(const std::string& name) {
  for (const IaEventName& each : kIaEventNames) {
    if (each.name == name) return each.index;
  }
  return base::kCountedIaEvents;
}

TEST(CounterNames, OfAdapterEvents) {
  namespace ia = object::ia_counter;
  EXPECT_EQ(base::kCountedIaEvents, std::size_t{ia::kCount});
  EXPECT_EQ(event("pz_create"), std::size_t{ia::kPzCreate});
  EXPECT_EQ(event("lmr_create"), std::size_t{ia::kLmrCreate});
  EXPECT_EQ(event("rmr_create"), std::size_t{ia::kRmrCreate});
  EXPECT_EQ(event("psp_create"), std::size_t{ia::kPspCreate});
  EXPECT_EQ(event("psp_free"), std::size_t{ia::kPspFree});
  EXPECT_EQ(event("rsp_create"), std::size_t{ia::kRspCreate});
  EXPECT_EQ(event("evd_create"), std::size_t{ia::kEvdCreate});
  EXPECT_EQ(event("ep_create"), std::size_t{ia::kEpCreate});
  EXPECT_EQ(event("srq_create"), std::size_t{ia::kSrqCreate});
  EXPECT_EQ(event("cr"), std::size_t{ia::kCr});
  EXPECT_EQ(event("cr_accepted"), std::size_t{ia::kCrAccepted});
  EXPECT_EQ(event("cr_rejected"), std::size_t{ia::kCrRejected});
  EXPECT_EQ(event("async_error"), std::size_t{ia::kAsyncError});
  EXPECT_EQ(event("async_ep_error"), std::size_t{ia::kAsyncQpError});
  EXPECT_EQ(event("async_evd_error"), std::size_t{ia::kAsyncCqError});
  EXPECT_EQ(event("listen"), std::size_t{ia::kListen});
  EXPECT_EQ(event("connect_sent"), std::size_t{ia::kRequestSent});
  EXPECT_EQ(event("connect_received"), std::size_t{ia::kRequestReceived});
  EXPECT_EQ(event("reject_sent"), std::size_t{ia::kRejectSent});
  EXPECT_EQ(event("reject_received"), std::size_t{ia::kRejectReceived});
  EXPECT_EQ(event("established_active"), std::size_t{ia::kActiveEstablished});
  EXPECT_EQ(event("established_passive"), std::size_t{ia::kPassiveEstablished});
  EXPECT_EQ(event("disconnect_sent"), std::size_t{ia::kDisconnectSent});
  EXPECT_EQ(event("disconnect_received"), std::size_t{ia::kDisconnectReceived});
  EXPECT_EQ(event("connection_error"), std::size_t{ia::kError});
  EXPECT_EQ(event("refused"), std::size_t{ia::kRefused});
  EXPECT_EQ(event("timed_out"), std::size_t{ia::kTimedOut});
}

TEST(CounterNames, OfDispatcherCalls) {
  namespace evd = object::evd_counter;
  EXPECT_EQ(kEvdCallNames.size(), std::size_t{evd::kCount});
  EXPECT_STREQ(kEvdCallNames[evd::kWait], "wait");
  EXPECT_STREQ(kEvdCallNames[evd::kWaitBlocked], "wait_blocked");
  EXPECT_STREQ(kEvdCallNames[evd::kWaitNotify], "wait_notified");
  EXPECT_STREQ(kEvdCallNames[evd::kDequeue], "dequeue");
  EXPECT_STREQ(kEvdCallNames[evd::kDequeueFound], "dequeue_found");
  EXPECT_STREQ(kEvdCallNames[evd::kDequeueNotFound], "dequeue_empty");
  EXPECT_STREQ(kEvdCallNames[evd::kDequeuePoll], "poll");
  EXPECT_STREQ(kEvdCallNames[evd::kDequeuePollFound], "poll_found");
  EXPECT_STREQ(kEvdCallNames[evd::kConnectionCallback], "connection_event");
  EXPECT_STREQ(kEvdCallNames[evd::kDtoCallback], "completion_event");
}

TEST(CounterNames, OfStates) {
  using object::EndpointState;
  const auto name = [](EndpointState state) { return state_name(static_cast<std::uint32_t>(state)); };
  EXPECT_EQ(name(EndpointState::kUnconnected), "unconnected");
  EXPECT_EQ(name(EndpointState::kReserved), "reserved");
  EXPECT_EQ(name(EndpointState::kPassiveConnectionPending), "passive_pending");
  EXPECT_EQ(name(EndpointState::kActiveConnectionPending), "active_pending");
  EXPECT_EQ(name(EndpointState::kTentativeConnectionPending), "tentative");
  EXPECT_EQ(name(EndpointState::kConnected), "connected");
  EXPECT_EQ(name(EndpointState::kDisconnectPending), "disconnecting");
  EXPECT_EQ(name(EndpointState::kDisconnected), "disconnected");
  EXPECT_EQ(name(EndpointState::kCompletionPending), "completion_pending");
  EXPECT_TRUE(is_connected(static_cast<std::uint32_t>(EndpointState::kConnected)));
  EXPECT_EQ(state_name(1), "unknown");
  EXPECT_EQ(state_name(99), "unknown");
}

}  // namespace
}  // namespace softdat::tools::observe
