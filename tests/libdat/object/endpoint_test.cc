// SPDX-License-Identifier: BSD-2-Clause
// dat_ep_create, _query, _get_status, _connect, _disconnect, _reset, _free and connection events.
#include "libdat/object/endpoint.h"

#include <cstring>

#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

std::vector<std::byte> bytes_of(const char* text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text);
  return {begin, begin + std::strlen(text)};
}

class EndpointTest : public testing::Test {
 protected:
  FakeQueuePair& queue_pair() { return *world_.device->queue_pairs.back(); }
  Pin<Endpoint> ep() { return ep_of(ep_); }
  Status connect() {
    return ep()->connection().connect({.remote = {0x7f000002, 99}, .conn_qual = 1u << 20, .timeout_us = 5});
  }
  ConnectionNotice next_notice() {
    Event event;
    EXPECT_EQ(evd_of(connect_)->dequeue(event), kOk);
    EXPECT_EQ(event.evd, connect_);
    return std::get<ConnectionNotice>(event.body);
  }
  bool is_quiet() {
    Event event;
    return evd_of(connect_)->dequeue(event).type == StatusType::kQueueEmpty;
  }

  World world_;
  Handle pz_ = world_.make_pz();
  Handle recv_ = world_.make_evd(kDtoStream);
  Handle request_ = world_.make_evd(kDtoStream);
  Handle connect_ = world_.make_evd(kConnectionStream);
  Handle ep_ = world_.make_ep(pz_, recv_, request_, connect_);
};

// A consumer that has heard of the end may close its IA, and should have heard why. Of two triggers of a CNO the later
// one is the hint.
TEST_F(EndpointTest, TheCauseOfABrokenConnectionIsToldBeforeItsEnd) {
  const Handle cno = world_.make_cno();
  for (const Handle evd : {world_.async_evd, connect_})
    ASSERT_EQ(evd_of(evd)->cno_trigger().modify_cno(&*cno_of(cno)), kOk);
  ASSERT_EQ(connect(), kOk);
  queue_pair().establish();
  queue_pair().sink().on_connection_event(
      {.type = hca::ConnectionEventType::kBroken, .private_data = {}, .is_peers_fault = true});
  Event cause;
  ASSERT_EQ(evd_of(world_.async_evd)->dequeue(cause), kOk);
  EXPECT_EQ(std::get<AsyncError>(cause.body).type, AsyncErrorType::kEpBroken);
  Handle hint = nullptr;
  EXPECT_EQ(cno_of(cno)->wait(0, hint), kOk);
  EXPECT_EQ(hint, connect_);
  for (const Handle evd : {world_.async_evd, connect_}) ASSERT_EQ(evd_of(evd)->cno_trigger().modify_cno(nullptr), kOk);
}

TEST_F(EndpointTest, QueryTellsWhatItWasMadeWith) {
  const EndpointParameters now = ep()->query();
  EXPECT_EQ(now.ia, world_.ia);
  EXPECT_EQ(now.pz, pz_);
  EXPECT_EQ(now.recv_evd, recv_);
  EXPECT_EQ(now.request_evd, request_);
  EXPECT_EQ(now.connect_evd, connect_);
  EXPECT_EQ(now.state, EndpointState::kUnconnected);
  ASSERT_NE(now.local_address, nullptr);
  ASSERT_NE(now.remote_address, nullptr);
  EXPECT_EQ(now.local_address->inet.sin_addr.s_addr, htonl(0x7f000001));
  EXPECT_GE(now.attributes.max_recv_dtos, 16);
}

TEST_F(EndpointTest, QueriedAttributesAreAcceptedBack) {
  EndpointAttributes attributes = ep()->query().attributes;
  Handle other = nullptr;
  EXPECT_EQ(world_.try_ep(pz_, recv_, request_, connect_, other, &attributes), kOk);
}

TEST_F(EndpointTest, ZeroAttributesAreTheProvidersChoice) {
  EndpointAttributes attributes;
  attributes.max_request_dtos = 7;
  const Handle other = world_.make_ep(pz_, recv_, request_, connect_, &attributes);
  EXPECT_EQ(ep_of(other)->query().attributes.max_request_dtos, 7);
  EXPECT_GE(ep_of(other)->query().attributes.max_recv_dtos, 16);
  // But for the reads, of which zero means none.
  EXPECT_EQ(ep_of(other)->query().attributes.max_rdma_read_in, 0);
  EXPECT_EQ(ep_of(other)->query().attributes.max_rdma_read_out, 0);
}

TEST_F(EndpointTest, SizesAreHints) {
  EndpointAttributes attributes;
  attributes.max_message_size = std::uint64_t{1} << 60;
  attributes.max_rdma_size = 1;
  Handle other = nullptr;
  EXPECT_EQ(world_.try_ep(pz_, recv_, request_, connect_, other, &attributes), kOk);
}

TEST_F(EndpointTest, BadAttributesAreNamed) {
  const auto refused = [&](const std::function<void(EndpointAttributes&)>& spoil) {
    EndpointAttributes attributes;
    spoil(attributes);
    Handle other = nullptr;
    const Status status = world_.try_ep(pz_, recv_, request_, connect_, other, &attributes);
    EXPECT_EQ(other, nullptr);
    return status;
  };
  const Status bad = invalid_parameter(StatusDetail::kInvalidArg6);
  EXPECT_EQ(refused([](auto& a) { a.max_recv_dtos = -1; }), bad);
  EXPECT_EQ(refused([](auto& a) { a.max_request_dtos = 1001; }), bad);
  EXPECT_EQ(refused([](auto& a) { a.max_recv_iov = 9; }), bad);
  EXPECT_EQ(refused([](auto& a) { a.max_request_iov = 0x7fffffff; }), bad);
  EXPECT_EQ(refused([](auto& a) { a.max_rdma_read_in = 17; }), bad);
  EXPECT_EQ(refused([](auto& a) { a.recv_completion_flags = kSuppressFlag; }), bad);
  EXPECT_EQ(refused([](auto& a) { a.recv_completion_flags = kUnsignalledFlag | kSolicitedWaitFlag; }), bad);
  EXPECT_EQ(refused([](auto& a) { a.request_completion_flags = 0x100; }), bad);
  EXPECT_EQ(refused([](auto& a) { a.service_type = 1; }), model_not_supported());
  EXPECT_EQ(refused([](auto& a) { a.qos = 0x10; }), model_not_supported());
}

TEST_F(EndpointTest, DispatchersMustTakeTheirStreams) {
  Handle other = nullptr;
  EXPECT_EQ(world_.try_ep(pz_, connect_, request_, connect_, other),
            invalid_handle(StatusDetail::kInvalidHandleEvdRecv));
  EXPECT_EQ(world_.try_ep(pz_, recv_, connect_, connect_, other),
            invalid_handle(StatusDetail::kInvalidHandleEvdRequest));
  EXPECT_EQ(world_.try_ep(pz_, recv_, request_, recv_, other), invalid_handle(StatusDetail::kInvalidHandleEvdConn));
  EXPECT_EQ(other, nullptr);
}

// A refused creation holds on to nothing.
TEST_F(EndpointTest, RefusedCreationLeavesNothingInUse) {
  ASSERT_EQ(Endpoint::free(ep()), kOk);
  Handle other = nullptr;
  EXPECT_FALSE(world_.try_ep(pz_, recv_, request_, recv_, other).ok());
  for (const Handle evd : {recv_, request_, connect_}) EXPECT_EQ(EventDispatcher::free(evd_of(evd)), kOk);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), kOk);
  EXPECT_EQ(world_.close(true), kOk);
}

TEST_F(EndpointTest, EverythingItUsesIsInUse) {
  for (const Handle evd : {recv_, request_, connect_}) {
    EXPECT_EQ(EventDispatcher::free(evd_of(evd)), invalid_state(StatusDetail::kInvalidStateEvdInUse));
  }
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), invalid_state(StatusDetail::kInvalidStatePzInUse));
}

TEST_F(EndpointTest, NullDispatchersAreAllowed) {
  const Handle other = world_.make_ep(pz_, nullptr, nullptr, nullptr);
  FakeQueuePair& theirs = queue_pair();
  auto pin = ep_of(other);
  ASSERT_EQ(pin->connection().connect({.remote = {1, 0}, .conn_qual = 1, .timeout_us = 1}), kOk);
  theirs.establish();
  // Nobody sees the completions, and they never stand in the way.
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(pin->posts().post_recv({}, 1, 0), kOk);
    ASSERT_EQ(pin->posts().post_send({}, 1, 0), kOk);
    theirs.complete_recv(0);
    theirs.complete_send(hca::CompletionStatus::kRemoteAccess);
  }
  EXPECT_TRUE(pin->status().is_recv_idle);
}

TEST_F(EndpointTest, EndpointWithoutZoneWaitsForOne) {
  const Handle other = world_.make_ep(nullptr, recv_, request_, connect_);
  const Status no_zone = invalid_state(StatusDetail::kInvalidStateEpPz);
  EXPECT_EQ(ep_of(other)->connection().connect({.remote = {1, 0}, .conn_qual = 1, .timeout_us = 1}), no_zone);
  EXPECT_EQ(ep_of(other)->posts().post_recv({}, 1, 0), no_zone);
  EXPECT_TRUE(ep_of(other)->status().is_recv_idle);
  EXPECT_EQ(ep_of(other)->connection().reset(), kOk);
  EXPECT_EQ(Endpoint::free(ep_of(other)), kOk);
}

TEST_F(EndpointTest, ConnectPassesEverythingOn) {
  const auto data = bytes_of("hello");
  ASSERT_EQ(ep()->connection().connect({.remote = {0x7f000009, 4242},
                                        .conn_qual = 0x8000000000000001u,
                                        .timeout_us = 2'000'000,
                                        .private_data = data,
                                        .qos = 0x0f,
                                        .flags = 1}),
            kOk);
  EXPECT_EQ(queue_pair().connected_to.remote.ipv4, 0x7f000009u);
  EXPECT_EQ(queue_pair().connected_to.remote.port, 0);
  EXPECT_EQ(queue_pair().connected_to.service_id, 0x8000000000000001u);
  EXPECT_EQ(queue_pair().connected_to.timeout, std::chrono::seconds(2));
  EXPECT_EQ(queue_pair().connect_data, data);
  EXPECT_EQ(ep()->query().remote_port_qual, 0x8000000000000001u);
  EXPECT_EQ(ep()->query().remote_address->inet.sin_addr.s_addr, htonl(0x7f000009));
}

TEST_F(EndpointTest, BadConnectArgumentsAreNamedAndChangeNothing) {
  const ConnectRequest good{.remote = {1, 0}, .conn_qual = 1, .timeout_us = 1};
  const std::vector<std::byte> too_much(65);
  const auto refused = [&](const std::function<void(ConnectRequest&)>& spoil) {
    ConnectRequest request = good;
    spoil(request);
    return ep()->connection().connect(request);
  };
  EXPECT_EQ(refused([](auto& r) { r.timeout_us = 0; }), invalid_parameter(StatusDetail::kInvalidArg4));
  EXPECT_EQ(refused([&](auto& r) { r.private_data = too_much; }), invalid_parameter(StatusDetail::kInvalidArg5));
  EXPECT_EQ(refused([](auto& r) { r.qos = 0x100; }), model_not_supported());
  EXPECT_EQ(refused([](auto& r) { r.flags = 4; }), invalid_parameter(StatusDetail::kInvalidArg8));
  EXPECT_EQ(refused([](auto& r) { r.flags = 2; }), model_not_supported());
  EXPECT_EQ(ep()->state(), EndpointState::kUnconnected);
  EXPECT_EQ(ep()->connection().connect(good), kOk);
}

TEST_F(EndpointTest, EveryEndOfAConnectionHasItsEvent) {
  const std::pair<hca::ConnectionEventType, ConnectionResult> kPairs[] = {
      {hca::ConnectionEventType::kPeerRejected, ConnectionResult::kPeerRejected},
      {hca::ConnectionEventType::kNonPeerRejected, ConnectionResult::kNonPeerRejected},
      {hca::ConnectionEventType::kUnreachable, ConnectionResult::kUnreachable},
      {hca::ConnectionEventType::kTimedOut, ConnectionResult::kTimedOut},
      {hca::ConnectionEventType::kAcceptFailed, ConnectionResult::kAcceptCompletionError},
      {hca::ConnectionEventType::kDisconnected, ConnectionResult::kDisconnected},
      {hca::ConnectionEventType::kBroken, ConnectionResult::kBroken}};
  for (const auto& [type, result] : kPairs) {
    ASSERT_EQ(connect(), kOk);
    queue_pair().happen(type, hca::QueuePairState::kError);
    const ConnectionNotice notice = next_notice();
    EXPECT_EQ(notice.ep, ep_);
    EXPECT_EQ(notice.result, result);
    EXPECT_EQ(notice.private_data_size, 0u);
    EXPECT_EQ(ep()->status().state, EndpointState::kDisconnected);
    ASSERT_EQ(ep()->connection().reset(), kOk);
  }
}

// "The private_data is valid until the Active side Consumer destroys the connected Endpoint ... or
// transitions the Endpoint into Unconnected state"
// A device makes a new queue pair for it, and may have no memory.
TEST_F(EndpointTest, ResetThatTheDeviceCannotDoMayBeTriedAgain) {
  queue_pair().move_to(hca::QueuePairState::kError);
  queue_pair().next_refusal = hca::Error::kNoMemory;
  EXPECT_EQ(ep()->connection().reset(), insufficient_resources(StatusDetail::kResourceMemory));
  EXPECT_EQ(ep()->status().state, EndpointState::kDisconnected);
  EXPECT_EQ(ep()->connection().reset(), kOk);
}

TEST_F(EndpointTest, PrivateDataStaysUntilReset) {
  ASSERT_EQ(connect(), kOk);
  queue_pair().establish(bytes_of("first"));
  const ConnectionNotice established = next_notice();
  EXPECT_EQ(established.result, ConnectionResult::kEstablished);
  queue_pair().happen(hca::ConnectionEventType::kBroken, hca::QueuePairState::kError, bytes_of("second"));
  const ConnectionNotice broken = next_notice();
  ASSERT_EQ(established.private_data_size, 5u);
  EXPECT_EQ(std::memcmp(established.private_data, "first", 5), 0);
  EXPECT_EQ(std::memcmp(broken.private_data, "second", 6), 0);
  EXPECT_EQ(ep()->connection().reset(), kOk);
}

TEST_F(EndpointTest, DisconnectIsHeardOnce) {
  ASSERT_EQ(connect(), kOk);
  queue_pair().establish();
  next_notice();
  EXPECT_EQ(ep()->connection().disconnect(true), kOk);
  EXPECT_EQ(ep()->status().state, EndpointState::kDisconnectPending);
  EXPECT_EQ(ep()->connection().disconnect(true), kOk);  // "has no effect"
  EXPECT_TRUE(is_quiet());
  EXPECT_EQ(ep()->connection().disconnect(false), kOk);
  EXPECT_EQ(next_notice().result, ConnectionResult::kDisconnected);
  EXPECT_EQ(ep()->connection().disconnect(false), kOk);
  EXPECT_EQ(ep()->connection().disconnect(true), kOk);
  EXPECT_TRUE(is_quiet());
}

TEST_F(EndpointTest, IdleFlagsFollowTheQueues) {
  ASSERT_EQ(connect(), kOk);
  queue_pair().establish();
  EXPECT_TRUE(ep()->status().is_recv_idle);
  ASSERT_EQ(ep()->posts().post_recv({}, 1, 0), kOk);
  EXPECT_FALSE(ep()->status().is_recv_idle);
  EXPECT_TRUE(ep()->status().is_request_idle);
  ASSERT_EQ(ep()->posts().post_send({}, 1, kSuppressFlag), kOk);
  EXPECT_FALSE(ep()->status().is_request_idle);
  queue_pair().complete_send();
  queue_pair().complete_recv(0);
  EXPECT_TRUE(ep()->status().is_request_idle);
  EXPECT_TRUE(ep()->status().is_recv_idle);
}

TEST_F(EndpointTest, FreeingGivesEverythingBack) {
  ASSERT_EQ(connect(), kOk);
  queue_pair().establish();
  ASSERT_EQ(ep()->posts().post_recv({}, 1, 0), kOk);
  EXPECT_EQ(Endpoint::free(ep()), kOk);
  EXPECT_FALSE(ep());
  for (const Handle evd : {recv_, request_, connect_}) EXPECT_EQ(EventDispatcher::free(evd_of(evd)), kOk);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz_)), kOk);
}

// Programs use dispatchers of another opening of the same adapter, and close the openings in any order.
TEST_F(EndpointTest, DispatcherOfAnotherOpeningMayGoFirst) {
  auto other = std::make_unique<World>(world_.device);
  const Handle theirs = other->make_evd(kConnectionStream);
  const Handle mine = world_.make_ep(pz_, recv_, request_, theirs);
  FakeQueuePair& pair = queue_pair();
  ASSERT_EQ(ep_of(mine)->connection().connect({.remote = {1, 0}, .conn_qual = 1, .timeout_us = 1}), kOk);
  EXPECT_EQ(other->close(false), kOk);
  EXPECT_FALSE(evd_of(theirs));
  pair.establish();
  EXPECT_EQ(ep_of(mine)->status().state, EndpointState::kConnected);
}

TEST_F(EndpointTest, DispatcherOfAnotherDeviceIsRefused) {
  World other;
  Handle mine = nullptr;
  EXPECT_EQ(world_.try_ep(pz_, recv_, request_, other.make_evd(kConnectionStream), mine),
            invalid_handle(StatusDetail::kInvalidHandleEvdConn));
  EXPECT_EQ(world_.try_ep(pz_, other.make_evd(kDtoStream), request_, connect_, mine),
            invalid_handle(StatusDetail::kInvalidHandleEvdRecv));
  EXPECT_EQ(world_.try_ep(other.make_pz(), recv_, request_, connect_, mine),
            invalid_handle(StatusDetail::kInvalidHandlePz));
}

}  // namespace
}  // namespace softdat::object
