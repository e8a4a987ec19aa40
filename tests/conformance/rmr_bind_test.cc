// SPDX-License-Identifier: BSD-2-Clause
// dat_rmr_bind, sentence by sentence, and what a peer may do through a bound RMR.
#include <algorithm>

#include "tests/conformance/foreign_memory.h"
#include "tests/conformance/rmr_world.h"

namespace softdat::conformance {
namespace {

class RmrBind : public RmrWorld {};

// "The Consumer is notified of the completion ... through a rmr_bind Completion event on the
// request_evd_handle"; "The user_cookie is returned to the Consumer"
TEST_F(RmrBind, CompletionTellsRmrAndCookie) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_THAT(bind(rmr, server_.memory->local(0, 64), kReadAndWrite, &context, 0, 0xfedcba9876543210u), succeeds());
  EXPECT_NE(context, 0u);
  const DAT_EVENT event = next_event(server_.request_evd);
  EXPECT_EQ(event.event_number, DAT_RMR_BIND_COMPLETION_EVENT);
  EXPECT_EQ(event.evd_handle, server_.request_evd);
  EXPECT_EQ(event.event_data.rmr_completion_event_data.rmr_handle, rmr);
  EXPECT_EQ(event.event_data.rmr_completion_event_data.user_cookie.as_64, 0xfedcba9876543210u);
  EXPECT_EQ(event.event_data.rmr_completion_event_data.status, DAT_RMR_BIND_SUCCESS);
  EXPECT_TRUE(is_quiet(server_.request_evd));
}

TEST_F(RmrBind, PeerReadsAndWritesThroughTheContext) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 4096, 8192);
  EXPECT_NE(context, server_.memory->rmr_context());
  client_.memory->fill(0, 5000, 3);
  EXPECT_EQ(write(context, 4096, 5000), DAT_DTO_SUCCESS);
  EXPECT_EQ(read(context, 4096, 5000), DAT_DTO_SUCCESS);
  const unsigned char* sent = client_.memory->data();
  EXPECT_TRUE(are_same_bytes(sent, server_.memory->data() + 4096, 5000));
  EXPECT_TRUE(are_same_bytes(sent, sent + kReadOffset, 5000));
}

TEST_F(RmrBind, LastByteIsWithinAndTheNextIsNot) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 100, 64);
  EXPECT_EQ(write(context, 163, 1), DAT_DTO_SUCCESS);
  EXPECT_EQ(write(context, 100, 64), DAT_DTO_SUCCESS);
  EXPECT_EQ(write(context, 100, 65), DAT_DTO_ERR_REMOTE_ACCESS);
  expect_broken();
}

TEST_F(RmrBind, ByteBeforeIsNotWithin) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 100, 64);
  EXPECT_EQ(read(context, 99, 2), DAT_DTO_ERR_REMOTE_ACCESS);
  expect_broken();
}

// "mem_privileges allows Consumers to restrict the type of remote accesses"
TEST_F(RmrBind, ReadOnlyRmrRefusesWrites) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 0, 64, DAT_MEM_PRIV_REMOTE_READ_FLAG);
  EXPECT_EQ(read(context, 0), DAT_DTO_SUCCESS);
  EXPECT_EQ(write(context, 0), DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(RmrBind, WriteOnlyRmrRefusesReads) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 0, 64, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
  EXPECT_EQ(read(context, 0), DAT_DTO_ERR_REMOTE_ACCESS);
}

TEST_F(RmrBind, RmrWithoutPrivilegesRefusesAll) {
  const DAT_RMR_CONTEXT context = bound(make_rmr(), 0, 64, DAT_MEM_PRIV_NONE_FLAG);
  EXPECT_EQ(read(context, 0), DAT_DTO_ERR_REMOTE_ACCESS);
}

// The LMR itself need not be open to peers.
TEST_F(RmrBind, RmrOpensAPieceOfAnLmrThatIsShut) {
  Memory memory(server_.adapter.handle(), server_.pz, 4096,
                DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  ASSERT_EQ(memory.rmr_context(), 0u);
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_THAT(bind(rmr, memory.local(0, 64), kReadAndWrite, &context, 0, 1, memory.lmr()), succeeds());
  EXPECT_EQ(next_bind(server_).status, DAT_RMR_BIND_SUCCESS);
  ASSERT_THAT(client_.post_write(0, 64, make_remote(memory.data(), 64, context)), succeeds());
  EXPECT_EQ(next_completion(client_.request_evd).status, DAT_DTO_SUCCESS);
  ASSERT_THAT(dat_rmr_free(rmr), succeeds());
}

// "Set RMR's DAT_MEM_PRIV_REMOTE_READ_FLAG requires that LMR's DAT_MEM_PRIV_LOCAL_READ_FLAG is also
// set", and the same of writing, "or the operation fails and returns DAT_PRIVILEGES_VIOLATION"
TEST_F(RmrBind, PrivilegesNeedThoseOfTheLmr) {
  Memory readable(server_.adapter.handle(), server_.pz, 4096, DAT_MEM_PRIV_LOCAL_READ_FLAG);
  Memory writable(server_.adapter.handle(), server_.pz, 4096, DAT_MEM_PRIV_LOCAL_WRITE_FLAG);
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0x5555;
  EXPECT_THAT(bind(rmr, readable.local(0, 64), kReadAndWrite, &context, 0, 1, readable.lmr()),
              fails_with(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_RDMA_WRITE));
  EXPECT_THAT(bind(rmr, writable.local(0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG, &context, 0, 1, writable.lmr()),
              fails_with(DAT_PRIVILEGES_VIOLATION, DAT_PRIVILEGES_RDMA_READ));
  EXPECT_EQ(context, 0x5555u);
  EXPECT_THAT(bind(rmr, readable.local(0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG, &context, 0, 1, readable.lmr()),
              succeeds());
  EXPECT_THAT(bind(rmr, writable.local(0, 64), DAT_MEM_PRIV_REMOTE_WRITE_FLAG, &context, 0, 1, writable.lmr()),
              succeeds());
  EXPECT_EQ(next_bind(server_).status, DAT_RMR_BIND_SUCCESS);
  EXPECT_EQ(next_bind(server_).status, DAT_RMR_BIND_SUCCESS);
  ASSERT_THAT(dat_rmr_free(rmr), succeeds());
}

// "Any RDMA DTO that uses the previous value of rmr_context after the dat_rmr_bind() is completed
// fail and report a protection violation"
TEST_F(RmrBind, RebindingGivesANewContextAndShutsTheOldOne) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  const DAT_RMR_CONTEXT old = bound(rmr, 0, 64);
  const DAT_RMR_CONTEXT context = bound(rmr, 0, 64);
  EXPECT_NE(old, context);
  EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
  EXPECT_EQ(write(old, 0), DAT_DTO_ERR_REMOTE_ACCESS);
  expect_broken();
}

TEST_F(RmrBind, NoContextComesBackForALongTime) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  std::vector<DAT_RMR_CONTEXT> seen;
  for (int i = 0; i < 200; ++i) {
    const DAT_RMR_CONTEXT context = bound(rmr, 0, 64);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), context), 0);
    seen.push_back(context);
  }
}

// "the value of length of zero means that the Consumer does not want to associate an RMR with any
// memory region"
TEST_F(RmrBind, LengthZeroUnbinds) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  const DAT_RMR_CONTEXT context = bound(rmr, 0, 64);
  server_.memory->fill(0, 64, 1);
  unbind(rmr);
  client_.memory->fill(0, 64, 2);
  EXPECT_EQ(write(context, 0), DAT_DTO_ERR_REMOTE_ACCESS);
  EXPECT_TRUE(server_.memory->holds(0, 64, 1));
  expect_broken();
}

TEST_F(RmrBind, UnbindingWhatIsNotBoundIsFine) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  unbind(rmr);
  unbind(rmr);
  EXPECT_EQ(write(bound(rmr, 0, 64), 0), DAT_DTO_SUCCESS);
}

// "Another way is to send rmr_context in a Send DTO over the connection"; "none of these operations
// starts until dat_rmr_bind() is completed"
TEST_F(RmrBind, ContextMayBeSentBehindTheBindWithoutWaiting) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  for (int round = 0; round < 100; ++round) {
    ASSERT_THAT(client_.post_recv(2048, sizeof(DAT_RMR_CONTEXT)), succeeds());
    DAT_RMR_CONTEXT context = 0;
    ASSERT_THAT(bind(rmr, server_.memory->local(0, 64), kReadAndWrite, &context, DAT_COMPLETION_SUPPRESS_FLAG),
                succeeds());
    std::copy_n(reinterpret_cast<unsigned char*>(&context), sizeof context, server_.memory->data() + 2048);
    ASSERT_THAT(server_.post_send(2048, sizeof context), succeeds());
    next_completion(client_.recv_evd);
    std::copy_n(client_.memory->data() + 2048, sizeof context, reinterpret_cast<unsigned char*>(&context));
    ASSERT_EQ(write(context, 0), DAT_DTO_SUCCESS);
    next_completion(server_.request_evd);
  }
}

TEST_F(RmrBind, BindsAndTransfersCompleteInTheOrderPosted) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  for (std::uint64_t i = 0; i < 8; i += 2) {
    ASSERT_THAT(server_.post_write(0, 4096, client_.memory->remote(0, 4096), i), succeeds());
    ASSERT_THAT(bind(rmr, server_.memory->local(0, 64), kReadAndWrite, &context, 0, i + 1), succeeds());
  }
  for (std::uint64_t i = 0; i < 8; i += 2) {
    EXPECT_EQ(next_completion(server_.request_evd).user_cookie.as_64, i);
    EXPECT_EQ(next_bind(server_).user_cookie.as_64, i + 1);
  }
}

TEST_F(RmrBind, SuppressedSuccessIsSilent) {
  const DAT_RMR_HANDLE silent = make_rmr();
  const DAT_RMR_HANDLE told = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_THAT(bind(silent, server_.memory->local(0, 64), kReadAndWrite, &context, DAT_COMPLETION_SUPPRESS_FLAG),
              succeeds());
  DAT_RMR_CONTEXT other = 0;
  ASSERT_THAT(bind(told, server_.memory->local(0, 64), kReadAndWrite, &other), succeeds());
  EXPECT_EQ(next_bind(server_).rmr_handle, told);
  EXPECT_TRUE(is_quiet(server_.request_evd));
  EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
}

TEST_F(RmrBind, FencedBindFollowsEarlierReads) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  for (int round = 0; round < 10; ++round) {
    ASSERT_THAT(server_.post_read(0, 16384, client_.memory->remote(0, 16384), 1), succeeds());
    ASSERT_THAT(bind(rmr, server_.memory->local(0, 64), kReadAndWrite, &context, DAT_COMPLETION_BARRIER_FENCE_FLAG, 2),
                succeeds());
    EXPECT_EQ(next_completion(server_.request_evd).user_cookie.as_64, 1u);
    EXPECT_EQ(next_bind(server_).user_cookie.as_64, 2u);
  }
}

// "DAT_COMPLETION_UNSIGNALLED_FLAG is only valid if the Endpoint Request Completion Flags ...
// Otherwise, DAT_INVALID_PARAMETER is returned"
TEST_F(RmrBind, UnsignalledNeedsAnEndpointConfiguredForIt) {
  DAT_RMR_CONTEXT context = 0;
  EXPECT_THAT(bind(make_rmr(), server_.memory->local(0, 64), kReadAndWrite, &context, DAT_COMPLETION_UNSIGNALLED_FLAG),
              fails_with(DAT_INVALID_PARAMETER, kIsDat2 ? DAT_INVALID_ARG8 : DAT_INVALID_ARG6));
}

PeerOptions unsignalled_options() {
  PeerOptions options;
  options.attributes = default_attributes();
  options.attributes->request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  return options;
}

class UnsignalledRmrBind : public RmrWorld {
 protected:
  UnsignalledRmrBind() : RmrWorld(unsignalled_options()) {}
};

TEST_F(UnsignalledRmrBind, CompletionIsQueuedWithoutNotification) {
  DAT_RMR_CONTEXT context = 0;
  ASSERT_THAT(bind(make_rmr(), server_.memory->local(0, 64), kReadAndWrite, &context, DAT_COMPLETION_UNSIGNALLED_FLAG),
              succeeds());
  EXPECT_TRUE(eventually([&] {
    const auto event = take_event(server_.request_evd);
    return event && event->event_number == DAT_RMR_BIND_COMPLETION_EVENT;
  }));
}

// "the target_address or segment_length exceeded the limits of the existing LMR"
TEST_F(RmrBind, PiecesBeyondTheLmrAreInvalid) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  const Memory& memory = *server_.memory;
  const auto invalid = fails_with(DAT_INVALID_PARAMETER, kIsDat2 ? DAT_INVALID_ARG3 : DAT_INVALID_ARG2);
  DAT_RMR_CONTEXT context = 0x5555;
  DAT_LMR_TRIPLET piece = memory.local(0, memory.size());
  piece.virtual_address += 1;
  EXPECT_THAT(bind(rmr, piece, kReadAndWrite, &context), invalid);
  piece = memory.local(0, 64);
  piece.virtual_address -= 1;
  EXPECT_THAT(bind(rmr, piece, kReadAndWrite, &context), invalid);
  piece.virtual_address = ~DAT_VADDR{0} - 10;
  EXPECT_THAT(bind(rmr, piece, kReadAndWrite, &context), invalid);
  piece = memory.local(0, 64);
  piece.lmr_context ^= 0x00ffff00u;
  EXPECT_THAT(bind(rmr, piece, kReadAndWrite, &context), invalid);
  EXPECT_EQ(context, 0x5555u);
  expect_conversation(server_, client_);
}

TEST_F(RmrBind, ContextOfAnRmrIsNoLmr) {
  DAT_LMR_TRIPLET piece = server_.memory->local(0, 64);
  piece.lmr_context = bound(make_rmr(), 0, 64);
  DAT_RMR_CONTEXT context = 0;
  EXPECT_THAT(bind(make_rmr(), piece, kReadAndWrite, &context), fails_with(DAT_INVALID_PARAMETER));
  EXPECT_THAT(dat_ep_post_send(server_.ep, 1, &piece, make_cookie(1), DAT_COMPLETION_DEFAULT_FLAG),
              fails_with(DAT_PRIVILEGES_VIOLATION));
}

TEST_F(RmrBind, BadArgumentsAreNamed) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  const DAT_LMR_TRIPLET piece = server_.memory->local(0, 64);
  EXPECT_THAT(bind_rmr(rmr, server_.memory->lmr(), nullptr, DAT_MEM_PRIV_ALL_FLAG, server_.ep, make_cookie(1),
                       DAT_COMPLETION_DEFAULT_FLAG, &context),
              fails_with(DAT_INVALID_PARAMETER, kIsDat2 ? DAT_INVALID_ARG3 : DAT_INVALID_ARG2));
  EXPECT_THAT(bind(rmr, piece, 0x4000, &context),
              fails_with(DAT_INVALID_PARAMETER, kIsDat2 ? DAT_INVALID_ARG4 : DAT_INVALID_ARG3));
  EXPECT_THAT(bind(rmr, piece, kReadAndWrite, &context, 0x4000),
              fails_with(DAT_INVALID_PARAMETER, kIsDat2 ? DAT_INVALID_ARG8 : DAT_INVALID_ARG6));
  EXPECT_THAT(bind(rmr, piece, kReadAndWrite, &context, DAT_COMPLETION_SOLICITED_WAIT_FLAG),
              fails_with(DAT_INVALID_PARAMETER, kIsDat2 ? DAT_INVALID_ARG8 : DAT_INVALID_ARG6));
  EXPECT_THAT(bind(rmr, piece, kReadAndWrite, nullptr),
              fails_with(DAT_INVALID_PARAMETER, kIsDat2 ? DAT_INVALID_ARG9 : DAT_INVALID_ARG7));
}

// "DAT_PROTECTION_VIOLATION": RMR, LMR and endpoint are of one zone.
TEST_F(RmrBind, EverythingMustBeOfOneZone) {
  const DAT_PZ_HANDLE elsewhere = server_.adapter.make_pz();
  Memory memory(server_.adapter.handle(), elsewhere, 4096);
  DAT_RMR_HANDLE foreign = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_rmr_create(elsewhere, &foreign), succeeds());
  DAT_RMR_CONTEXT context = 0;
  EXPECT_THAT(bind(make_rmr(), memory.local(0, 64), kReadAndWrite, &context, 0, 1, memory.lmr()),
              fails_with(DAT_PROTECTION_VIOLATION, DAT_PROTECTION_RDMA_WRITE));
  EXPECT_THAT(bind(make_rmr(), memory.local(0, 64), DAT_MEM_PRIV_REMOTE_READ_FLAG, &context, 0, 1, memory.lmr()),
              fails_with(DAT_PROTECTION_VIOLATION, DAT_PROTECTION_RDMA_READ));
  EXPECT_THAT(bind(foreign, server_.memory->local(0, 64), kReadAndWrite, &context),
              fails_with(DAT_PROTECTION_VIOLATION));
  EXPECT_THAT(bind(foreign, memory.local(0, 64), kReadAndWrite, &context, 0, 1, memory.lmr()),
              fails_with(DAT_PROTECTION_VIOLATION));
}

TEST_F(RmrBind, EndpointOfAnotherAdapterIsAnInvalidHandle) {
  const DAT_LMR_TRIPLET piece = server_.memory->local(0, 64);
  DAT_RMR_CONTEXT context = 0;
  EXPECT_THAT(bind_rmr(make_rmr(), server_.memory->lmr(), &piece, DAT_MEM_PRIV_ALL_FLAG, client_.ep, make_cookie(1),
                       DAT_COMPLETION_DEFAULT_FLAG, &context),
              fails_with(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP));
}

// "valid for the Endpoint in the DAT_EP_STATE_CONNECTED and DAT_EP_STATE_DISCONNECTED states"
TEST_F(RmrBind, UnconnectedEndpointIsAnInvalidState) {
  Peer idle(kServerName);
  DAT_RMR_HANDLE rmr = DAT_HANDLE_NULL;
  ASSERT_THAT(dat_rmr_create(idle.pz, &rmr), succeeds());
  const DAT_LMR_TRIPLET piece = idle.memory->local(0, 64);
  DAT_RMR_CONTEXT context = 0;
  EXPECT_THAT(bind_rmr(rmr, idle.memory->lmr(), &piece, DAT_MEM_PRIV_ALL_FLAG, idle.ep, make_cookie(1),
                       DAT_COMPLETION_DEFAULT_FLAG, &context),
              fails_with(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONNECTED));
}

// "for the Endpoint in DAT_EP_STATE_DISCONNECTED state, the posted RMR Bind is immediately flushed"
TEST_F(RmrBind, DisconnectedEndpointFlushesAtOnce) {
  require(dat_ep_disconnect(server_.ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
  next_event(server_.connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_THAT(bind(rmr, server_.memory->local(0, 64), kReadAndWrite, &context, DAT_COMPLETION_SUPPRESS_FLAG, 5),
              succeeds());
  const auto flushed = next_bind(server_);
  EXPECT_EQ(flushed.status, DAT_RMR_BIND_FAILURE);
  EXPECT_EQ(flushed.user_cookie.as_64, 5u);
  EXPECT_EQ(flushed.rmr_handle, rmr);
  EXPECT_EQ(query(rmr).rmr_context, 0u);
  EXPECT_THAT(dat_lmr_free(server_.memory->lmr()), succeeds());
}

TEST_F(RmrBind, FullQueueIsInsufficientResources) {
  // Sends that nobody receives fill the queue.
  DAT_RETURN answer = DAT_SUCCESS;
  const DAT_RMR_HANDLE rmr = make_rmr();
  DAT_RMR_CONTEXT context = 0;
  ASSERT_THAT(server_.post_send(0, 64), succeeds());
  for (int i = 0; i < 1000 && answer == DAT_SUCCESS; ++i) {
    answer = bind(rmr, server_.memory->local(0, 64), kReadAndWrite, &context);
  }
  EXPECT_THAT(answer, fails_with(DAT_INSUFFICIENT_RESOURCES));
}

// Two RMRs over the same bytes, each with rights of its own.
TEST_F(RmrBind, OverlappingRmrsAreIndependent) {
  const DAT_RMR_HANDLE one = make_rmr();
  const DAT_RMR_HANDLE two = make_rmr();
  const DAT_RMR_CONTEXT readable = bound(one, 0, 64, DAT_MEM_PRIV_REMOTE_READ_FLAG);
  const DAT_RMR_CONTEXT writable = bound(two, 32, 64, DAT_MEM_PRIV_REMOTE_WRITE_FLAG);
  EXPECT_EQ(write(writable, 32), DAT_DTO_SUCCESS);
  unbind(two);
  EXPECT_EQ(read(readable, 32), DAT_DTO_SUCCESS);
  EXPECT_EQ(write(writable, 32), DAT_DTO_ERR_REMOTE_ACCESS);
}

// A bind may be posted on any endpoint of the zone, and serves all of them.
TEST_F(RmrBind, ContextServesAllEndpointsOfTheZone) {
  const DAT_RMR_HANDLE rmr = make_rmr();
  const DAT_RMR_CONTEXT context = bound(rmr, 0, 64);
  require(dat_ep_disconnect(client_.ep, DAT_CLOSE_ABRUPT_FLAG), "dat_ep_disconnect");
  for (Peer* peer : {&client_, &server_}) {
    next_event(peer->connect_evd, DAT_CONNECTION_EVENT_DISCONNECTED);
    peer->renew_endpoint();
    drain(peer->request_evd);
  }
  establish(server_, client_);
  EXPECT_EQ(write(context, 0), DAT_DTO_SUCCESS);
}

}  // namespace
}  // namespace softdat::conformance
