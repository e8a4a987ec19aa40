// SPDX-License-Identifier: BSD-2-Clause
// dat_psp_*, dat_rsp_*, dat_cr_*.
#include "libdat/object/service_point.h"

#include <cstring>

#include "libdat/object/common_service_point.h"
#include "libdat/object/connection_request.h"
#include "libdat/object/reserved_service_point.h"
#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

class ServicePointTest : public testing::Test {
 protected:
  Pin<InterfaceAdapter> ia() { return pin_handle<InterfaceAdapter>(world_.ia); }
  Pin<ConnectionRequest> cr_of(Handle handle) { return pin_handle<ConnectionRequest>(handle); }
  Handle listen(std::uint64_t qualifier, bool provider = false) {
    Handle psp = nullptr;
    EXPECT_EQ(ServicePoint::create(*ia(), qualifier, *evd_of(cr_evd_), provider, psp), kOk);
    return psp;
  }
  RequestArrival next_arrival() {
    Event event;
    EXPECT_EQ(evd_of(cr_evd_)->dequeue(event), kOk);
    return std::get<RequestArrival>(event.body);
  }
  static SocketAddress address(std::uint16_t port) {
    SocketAddress result;
    result.inet.sin_family = AF_INET;
    result.inet.sin_port = htons(port);
    return result;
  }
  bool is_quiet() {
    Event event;
    return evd_of(cr_evd_)->dequeue(event) == kEmpty;
  }

  World world_;
  Handle pz_ = world_.make_pz();
  Handle cr_evd_ = world_.make_evd(kCrStream, 2);
  Handle connect_ = world_.make_evd(kConnectionStream);
  Handle ep_ = world_.make_ep(pz_, nullptr, nullptr, connect_);
  const hca::Bytes data_ = hca::Bytes(5, std::byte{0x41});
};

TEST_F(ServicePointTest, RequestIsAnnouncedWithAllItCarries) {
  const Handle psp = listen(0x8000000000000007u);
  world_.device->arrive(0x8000000000000007u, data_);
  const RequestArrival arrival = next_arrival();
  EXPECT_EQ(arrival.service_point, psp);
  EXPECT_EQ(arrival.conn_qual, 0x8000000000000007u);
  EXPECT_EQ(arrival.local_address->inet.sin_addr.s_addr, htonl(0x7f000001));
  const ConnectionRequestParameters now = cr_of(arrival.request)->query();
  EXPECT_EQ(now.remote_address->inet.sin_addr.s_addr, htonl(0x7f000002));
  EXPECT_EQ(now.remote_port_qual, 4711u);
  EXPECT_EQ(hca::Bytes(now.private_data.begin(), now.private_data.end()), data_);
  EXPECT_EQ(now.local_ep, nullptr);
}

TEST_F(ServicePointTest, AcceptedRequestIsSpent) {
  listen(1);
  const auto answer = world_.device->arrive(1);
  const Handle cr = next_arrival().request;
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), &*ep_of(ep_), data_), kOk);
  EXPECT_TRUE(answer->is_accepted);
  EXPECT_EQ(answer->private_data, data_);
  EXPECT_FALSE(cr_of(cr));
  EXPECT_EQ(ep_of(ep_)->state(), EndpointState::kCompletionPending);
  world_.device->queue_pairs.front()->establish();
  EXPECT_EQ(ep_of(ep_)->state(), EndpointState::kConnected);
}

TEST_F(ServicePointTest, RejectedRequestIsSpent) {
  listen(1);
  const auto answer = world_.device->arrive(1);
  const Handle cr = next_arrival().request;
  EXPECT_EQ(ConnectionRequest::reject(cr_of(cr), data_), kOk);
  EXPECT_TRUE(answer->is_rejected);
  EXPECT_EQ(answer->private_data, data_);
  EXPECT_FALSE(cr_of(cr));
}

TEST_F(ServicePointTest, RefusedAcceptLeavesRequestAndEndpoint) {
  listen(1);
  const auto answer = world_.device->arrive(1);
  const Handle cr = next_arrival().request;
  const hca::Bytes too_much(65);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), nullptr, {}), invalid_handle(StatusDetail::kInvalidHandleEp));
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), &*ep_of(ep_), too_much),
            invalid_parameter(StatusDetail::kInvalidArg3));
  EXPECT_EQ(ConnectionRequest::reject(cr_of(cr), too_much), invalid_parameter(StatusDetail::kInvalidArg2));
  World other;
  const Handle foreign = other.make_ep(other.make_pz(), nullptr, nullptr, nullptr);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), &*ep_of(foreign), {}), invalid_handle(StatusDetail::kInvalidHandleEp));
  const Handle zoneless = world_.make_ep(nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), &*ep_of(zoneless), {}),
            invalid_state(StatusDetail::kInvalidStateEpPz));
  EXPECT_EQ(ep_of(ep_)->state(), EndpointState::kUnconnected);
  EXPECT_FALSE(answer->is_accepted || answer->is_dropped);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), &*ep_of(ep_), {}), kOk);
}

TEST_F(ServicePointTest, FullQueueRefusesThePeer) {
  listen(1);
  const auto first = world_.device->arrive(1);
  const auto second = world_.device->arrive(1);
  const auto third = world_.device->arrive(1);
  EXPECT_FALSE(first->is_dropped || second->is_dropped);
  EXPECT_TRUE(third->is_dropped);
  next_arrival();
  EXPECT_FALSE(world_.device->arrive(1)->is_dropped);
  Event event;
  EXPECT_EQ(evd_of(world_.async_evd)->dequeue(event), kEmpty);
}

TEST_F(ServicePointTest, RequestsNobodySawAreRefusedWithTheirDispatcher) {
  const Handle psp = listen(1);
  const auto answer = world_.device->arrive(1);
  ASSERT_EQ(ServicePoint::free(pin_handle<ServicePoint>(psp)), kOk);
  EXPECT_FALSE(answer->is_dropped);
  EXPECT_EQ(EventDispatcher::free(evd_of(cr_evd_)), kOk);
  EXPECT_TRUE(answer->is_dropped);
}

TEST_F(ServicePointTest, RequestsOutliveTheirServicePoint) {
  const Handle psp = listen(1);
  const auto answer = world_.device->arrive(1);
  const Handle cr = next_arrival().request;
  EXPECT_EQ(ServicePoint::free(pin_handle<ServicePoint>(psp)), kOk);
  EXPECT_EQ(world_.device->arrive(1), nullptr);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), &*ep_of(ep_), {}), kOk);
  EXPECT_TRUE(answer->is_accepted);
}

TEST_F(ServicePointTest, QualifierInUseIsRefused) {
  listen(5);
  Handle second = nullptr;
  EXPECT_EQ(ServicePoint::create(*ia(), 5, *evd_of(cr_evd_), false, second).type, StatusType::kConnQualInUse);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(ServicePoint::create(*ia(), 6, *evd_of(connect_), false, second),
            invalid_handle(StatusDetail::kInvalidHandleEvdCr));
}

TEST_F(ServicePointTest, AnyQualifierIsFreeAndSmall) {
  for (int i = 0; i < 100; ++i) {
    std::uint64_t qualifier = 0;
    Handle psp = nullptr;
    ASSERT_EQ(ServicePoint::create_any(*ia(), qualifier, *evd_of(cr_evd_), false, psp), kOk);
    EXPECT_GE(qualifier, 1024u);
    EXPECT_LT(qualifier, 65536u);
    EXPECT_EQ(pin_handle<ServicePoint>(psp)->query().conn_qual, qualifier);
  }
}

// Every free one of the range is tried, and no more.
TEST_F(ServicePointTest, AnyQualifierIsUnavailableWhenAllAreTaken) {
  world_.device->first_taken = 1024;
  std::uint64_t qualifier = 7;
  Handle psp = nullptr;
  EXPECT_EQ(ServicePoint::create_any(*ia(), qualifier, *evd_of(cr_evd_), false, psp), conn_qual_unavailable());
  EXPECT_EQ(world_.device->listen_calls, 65536u - 1024u);
  EXPECT_EQ(qualifier, 7u);
  EXPECT_EQ(psp, nullptr);
  Handle csp = nullptr;
  EXPECT_EQ(CommonServicePoint::create(*ia(), tcp_communicator(AF_INET), address(0), *evd_of(cr_evd_), csp),
            port_in_use());
  world_.device->first_taken = 65535;
  EXPECT_EQ(ServicePoint::create_any(*ia(), qualifier, *evd_of(cr_evd_), false, psp), kOk);
}

TEST_F(ServicePointTest, CommonPointAnnouncesItsPort) {
  Handle csp = nullptr;
  ASSERT_EQ(CommonServicePoint::create(*ia(), tcp_communicator(AF_INET), address(4711), *evd_of(cr_evd_), csp), kOk);
  EXPECT_EQ(CommonServicePoint::create(*ia(), tcp_communicator(AF_INET), address(4711), *evd_of(cr_evd_), csp),
            port_in_use());
  const auto answer = world_.device->arrive(4711, data_);
  const RequestArrival arrival = next_arrival();
  EXPECT_EQ(arrival.service_point, csp);
  EXPECT_EQ(arrival.conn_qual, 4711u);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(arrival.request), &*ep_of(ep_), {}), kOk);
  EXPECT_TRUE(answer->is_accepted);
  EXPECT_EQ(ep_of(ep_)->query().communicator, tcp_communicator(AF_INET));
  EXPECT_EQ(CommonServicePoint::free(pin_handle<CommonServicePoint>(csp)), kOk);
  EXPECT_EQ(world_.device->arrive(4711), nullptr);
}

TEST_F(ServicePointTest, RequestIsHandedOff) {
  listen(1);
  const Handle other = listen(2);
  const auto answer = world_.device->arrive(1, data_);
  const Handle cr = next_arrival().request;
  EXPECT_EQ(ConnectionRequest::hand_off(cr_of(cr), 3), invalid_parameter(StatusDetail::kInvalidArg2));
  EXPECT_EQ(ConnectionRequest::hand_off(cr_of(cr), 2), kOk);
  EXPECT_FALSE(cr_of(cr));
  const RequestArrival again = next_arrival();
  EXPECT_EQ(again.service_point, other);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(again.request), &*ep_of(ep_), {}), kOk);
  EXPECT_TRUE(answer->is_accepted);
  EXPECT_FALSE(answer->is_dropped);
}

TEST_F(ServicePointTest, ProvidersEndpointMatchesTheRequest) {
  world_.device->peer_ird = 3;
  world_.device->peer_ord = 50;
  listen(1, true);
  world_.device->arrive(1);
  const EndpointParameters made = ep_of(cr_of(next_arrival().request)->query().local_ep)->query();
  EXPECT_EQ(made.attributes.max_rdma_read_out, 3);
  EXPECT_EQ(made.attributes.max_rdma_read_in, 16);  // no more than the device has
  EXPECT_EQ(made.remote_address->inet.sin_addr.s_addr, htonl(0x7f000002));
}

TEST_F(ServicePointTest, ProvidersEndpointIsConfiguredAndAccepted) {
  listen(1, true);
  const auto answer = world_.device->arrive(1);
  const Handle cr = next_arrival().request;
  const Handle ep = cr_of(cr)->query().local_ep;
  ASSERT_NE(ep, nullptr);
  EXPECT_EQ(ep_of(ep)->query().pz, nullptr);
  const auto pz = pin_handle<ProtectionZone>(pz_);
  EndpointChange change;
  change.pz = &*pz;
  ASSERT_EQ(ep_of(ep)->settings().modify(change), kOk);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), &*ep_of(ep_), {}), invalid_handle(StatusDetail::kInvalidHandleEp));
  EXPECT_EQ(ConnectionRequest::accept(cr_of(cr), nullptr, {}), kOk);
  EXPECT_TRUE(answer->is_accepted);
  EXPECT_TRUE(ep_of(ep));
}

// "If rejected ... its ep_handle is no longer usable by the Consumer."
TEST_F(ServicePointTest, ProvidersEndpointVanishesWithItsRequest) {
  listen(1, true);
  world_.device->arrive(1);
  const Handle cr = next_arrival().request;
  const Handle ep = cr_of(cr)->query().local_ep;
  EXPECT_EQ(ConnectionRequest::reject(cr_of(cr), {}), kOk);
  EXPECT_FALSE(ep_of(ep));
}

TEST_F(ServicePointTest, ReservedPointTakesOneRequest) {
  Handle rsp = nullptr;
  ASSERT_EQ(ReservedServicePoint::create(*ia(), 9, &*ep_of(ep_), *evd_of(cr_evd_), rsp), kOk);
  EXPECT_EQ(pin_handle<ReservedServicePoint>(rsp)->query().ep, ep_);
  const auto first = world_.device->arrive(9);
  const auto second = world_.device->arrive(9);
  EXPECT_TRUE(second->is_dropped);
  const RequestArrival arrival = next_arrival();
  EXPECT_EQ(arrival.service_point, rsp);
  EXPECT_EQ(ConnectionRequest::accept(cr_of(arrival.request), nullptr, {}), kOk);
  EXPECT_TRUE(first->is_accepted);
  world_.device->queue_pairs.front()->establish();
  EXPECT_EQ(ReservedServicePoint::free(pin_handle<ReservedServicePoint>(rsp)), kOk);
  EXPECT_EQ(ep_of(ep_)->state(), EndpointState::kConnected);
}

TEST_F(ServicePointTest, ReservedPointThatFoundNoRoomTakesTheNextRequest) {
  listen(1);
  world_.device->arrive(1);
  world_.device->arrive(1);
  Handle rsp = nullptr;
  ASSERT_EQ(ReservedServicePoint::create(*ia(), 9, &*ep_of(ep_), *evd_of(cr_evd_), rsp), kOk);
  EXPECT_TRUE(world_.device->arrive(9)->is_dropped);
  EXPECT_EQ(ep_of(ep_)->state(), EndpointState::kReserved);
  next_arrival();
  EXPECT_FALSE(world_.device->arrive(9)->is_dropped);
  EXPECT_EQ(ep_of(ep_)->state(), EndpointState::kPassiveConnectionPending);
}

TEST_F(ServicePointTest, FailedReservationLeavesTheEndpointAlone) {
  listen(5);
  Handle rsp = nullptr;
  EXPECT_EQ(ReservedServicePoint::create(*ia(), 5, &*ep_of(ep_), *evd_of(cr_evd_), rsp).type,
            StatusType::kConnQualInUse);
  EXPECT_EQ(ep_of(ep_)->state(), EndpointState::kUnconnected);
}

// Many threads answer the same request: one answer counts.
TEST_F(ServicePointTest, OneAnswerCounts) {
  listen(1);
  for (int round = 0; round < 100; ++round) {
    const auto answer = world_.device->arrive(1);
    const Handle cr = next_arrival().request;
    std::atomic<int> successes{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        auto pin = cr_of(cr);
        if (pin && ConnectionRequest::reject(std::move(pin), {}).ok()) ++successes;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(successes.load(), 1);
  }
}

}  // namespace
}  // namespace softdat::object
