// SPDX-License-Identifier: BSD-2-Clause
// Every state of an EP meets every event, on the table and on the object.
#include "libdat/object/endpoint_state.h"

#include "libdat/object/connection_request.h"
#include "libdat/object/reserved_service_point.h"
#include "libdat/object/service_point.h"
#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

using enum EndpointState;

constexpr EndpointState kStates[] = {kUnconnected,
                                     kReserved,
                                     kPassiveConnectionPending,
                                     kActiveConnectionPending,
                                     kTentativeConnectionPending,
                                     kConnected,
                                     kDisconnectPending,
                                     kDisconnected,
                                     kCompletionPending};

constexpr EndpointEvent event_number(int number) {
  return static_cast<EndpointEvent>(number);
}

// An EP in any state, and all that can happen to it.
class Subject {
 public:
  explicit Subject(EndpointState state) {
    if (state == kTentativeConnectionPending) {
      make_tentative();
    } else {
      ep_ = world_.make_ep(pz_, recv_, request_, connect_);
      lead_to(state);
    }
    drain();
  }

  EndpointState state() { return ep_of(ep_)->state(); }
  Handle handle() { return ep_; }

  // What the event is answered with. Happenings that nobody can refuse are brought about as the
  // queue pair would; nothing where the event makes no sense for the test to try.
  std::optional<Status> meet(EndpointEvent event);

  // A freed EP counts as UNCONNECTED.
  EndpointState state_after() { return ep_of(ep_) ? state() : kUnconnected; }

 private:
  FakeQueuePair& queue_pair() { return *world_.device->queue_pairs.back(); }
  Status connect() {
    return ep_of(ep_)->connection().connect({.remote = {0x7f000002, 0}, .conn_qual = 9, .timeout_us = 1000});
  }
  Status reserve(std::uint64_t qualifier) {
    return ReservedServicePoint::create(*pin_handle<InterfaceAdapter>(world_.ia), qualifier, &*ep_of(ep_), *evd_of(cr_),
                                        rsp_);
  }
  void drain() {
    Event event;
    for (const Handle evd : {recv_, request_, connect_, cr_}) {
      while (evd_of(evd)->dequeue(event).ok()) {
      }
    }
  }
  Handle next_request() {
    Event event;
    EXPECT_EQ(evd_of(cr_)->dequeue(event), kOk);
    return std::get<RequestArrival>(event.body).request;
  }
  void make_tentative() {
    Handle psp = nullptr;
    EXPECT_EQ(ServicePoint::create(*pin_handle<InterfaceAdapter>(world_.ia), 5, *evd_of(cr_), true, psp), kOk);
    EXPECT_NE(world_.device->arrive(5), nullptr);
    cr_handle_ = next_request();
    ep_ = pin_handle<ConnectionRequest>(cr_handle_)->query().local_ep;
    EndpointChange change;
    const auto pz = pin_handle<ProtectionZone>(pz_);
    const auto evd = evd_of(connect_);
    change.pz = &*pz;
    change.connect_evd = &*evd;
    EXPECT_EQ(ep_of(ep_)->settings().modify(change), kOk);
  }
  void lead_to(EndpointState state);

  World world_;
  Handle pz_ = world_.make_pz();
  Handle recv_ = world_.make_evd(kDtoStream);
  Handle request_ = world_.make_evd(kDtoStream);
  Handle connect_ = world_.make_evd(kConnectionStream);
  Handle cr_ = world_.make_evd(kCrStream);
  Handle ep_ = nullptr;
  Handle rsp_ = nullptr;
  Handle cr_handle_ = nullptr;
};

void Subject::lead_to(EndpointState state) {
  switch (state) {
    case kUnconnected:
    case kTentativeConnectionPending:
      return;
    case kReserved:
      EXPECT_EQ(reserve(4), kOk);
      return;
    case kPassiveConnectionPending:
      EXPECT_EQ(reserve(4), kOk);
      EXPECT_NE(world_.device->arrive(4), nullptr);
      cr_handle_ = next_request();
      return;
    case kActiveConnectionPending:
      EXPECT_EQ(connect(), kOk);
      return;
    case kConnected:
      EXPECT_EQ(connect(), kOk);
      queue_pair().establish();
      return;
    case kDisconnectPending:
      lead_to(kConnected);
      EXPECT_EQ(ep_of(ep_)->connection().disconnect(true), kOk);
      return;
    case kDisconnected:
      lead_to(kConnected);
      EXPECT_EQ(ep_of(ep_)->connection().disconnect(false), kOk);
      return;
    case kCompletionPending:
      lead_to(kPassiveConnectionPending);
      EXPECT_EQ(ConnectionRequest::accept(pin_handle<ConnectionRequest>(cr_handle_), nullptr, {}), kOk);
      return;
  }
}

std::optional<Status> Subject::meet(EndpointEvent event) {
  const auto happen = [&](hca::ConnectionEventType type, hca::QueuePairState state) -> std::optional<Status> {
    queue_pair().happen(type, state);
    return kOk;
  };
  switch (event) {
    case EndpointEvent::kConnect:
      return connect();
    case EndpointEvent::kReserve:
      return reserve(77);
    case EndpointEvent::kAccept: {
      if (cr_handle_ != nullptr && state() != kCompletionPending) {
        return ConnectionRequest::accept(pin_handle<ConnectionRequest>(cr_handle_), nullptr, {});
      }
      Handle psp = nullptr;
      EXPECT_EQ(ServicePoint::create(*pin_handle<InterfaceAdapter>(world_.ia), 6, *evd_of(cr_), false, psp), kOk);
      EXPECT_NE(world_.device->arrive(6), nullptr);
      return ConnectionRequest::accept(pin_handle<ConnectionRequest>(next_request()), &*ep_of(ep_), {});
    }
    case EndpointEvent::kDisconnectGraceful:
      return ep_of(ep_)->connection().disconnect(true);
    case EndpointEvent::kDisconnectAbrupt:
      return ep_of(ep_)->connection().disconnect(false);
    case EndpointEvent::kReset:
      return ep_of(ep_)->connection().reset();
    case EndpointEvent::kFree:
      return Endpoint::free(ep_of(ep_));
    case EndpointEvent::kPostRequest:
      return ep_of(ep_)->posts().post_send({}, 1, 0);
    case EndpointEvent::kPostReceive:
      return ep_of(ep_)->posts().post_recv({}, 1, 0);
    case EndpointEvent::kModifyZone: {
      EndpointChange change;
      const auto pz = pin_handle<ProtectionZone>(pz_);
      change.pz = &*pz;
      return ep_of(ep_)->settings().modify(change);
    }
    case EndpointEvent::kModifyOther: {
      EndpointChange change;
      change.attributes = [](EndpointAttributes&) {};
      return ep_of(ep_)->settings().modify(change);
    }
    case EndpointEvent::kRequestArrived:
      return world_.device->arrive(4) != nullptr ? std::optional<Status>(kOk) : std::nullopt;
    case EndpointEvent::kRequestRejected:
      if (rsp_ != nullptr && cr_handle_ == nullptr) {
        return ReservedServicePoint::free(pin_handle<ReservedServicePoint>(rsp_));
      }
      return ConnectionRequest::reject(pin_handle<ConnectionRequest>(cr_handle_), {});
    case EndpointEvent::kEstablished:
      return happen(hca::ConnectionEventType::kEstablished, hca::QueuePairState::kConnected);
    case EndpointEvent::kRefused:
      return happen(hca::ConnectionEventType::kPeerRejected, hca::QueuePairState::kError);
    case EndpointEvent::kDrained:
      return happen(hca::ConnectionEventType::kDisconnected, hca::QueuePairState::kError);
    case EndpointEvent::kBroken:
      return happen(hca::ConnectionEventType::kBroken, hca::QueuePairState::kError);
  }
  return std::nullopt;
}

bool is_call(EndpointEvent event) {
  return event <= EndpointEvent::kModifyOther;
}

TEST(EndpointStates, SubjectsAreInTheirStates) {
  for (const EndpointState state : kStates) {
    Subject subject(state);
    EXPECT_EQ(subject.state(), state) << name_of(state);
  }
}

// Calls that the table refuses are refused with the state's own subtype and change nothing.
TEST(EndpointStates, ObjectsFollowTheTable) {
  for (const EndpointState state : kStates) {
    for (int number = 0; number < kEndpointEventCount; ++number) {
      const EndpointEvent event = event_number(number);
      const auto next = next_state(state, event);
      if (!next && !is_call(event)) continue;  // cannot happen
      SCOPED_TRACE(std::string(name_of(state)) + " meets " + name_of(event));
      Subject subject(state);
      const std::optional<Status> answer = subject.meet(event);
      ASSERT_TRUE(answer.has_value());
      EXPECT_EQ(*answer, next ? kOk : wrong_state(state));
      EXPECT_EQ(subject.state_after(), next.value_or(state));
    }
  }
}

// "State value is one of the following": eight.
TEST(EndpointStates, ReportedStatesAreThoseOfThePage) {
  for (const EndpointState state : kStates) EXPECT_NE(reported_state(state), kCompletionPending);
  EXPECT_EQ(reported_state(kCompletionPending), kPassiveConnectionPending);
  EXPECT_EQ(reported_state(kConnected), kConnected);
}

TEST(EndpointStates, EveryStateHasItsOwnRefusalAndName) {
  for (const EndpointState a : kStates) {
    for (const EndpointState b : kStates) {
      if (a != b) {
        EXPECT_NE(wrong_state(a), wrong_state(b));
        EXPECT_STRNE(name_of(a), name_of(b));
      }
    }
  }
}

}  // namespace
}  // namespace softdat::object
