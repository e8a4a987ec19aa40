// SPDX-License-Identifier: BSD-2-Clause
// Connections coming to be, and not.
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

class ConnectTest : public ::testing::Test {
 protected:
  Host& here() { return world_.here(); }
  Host& there() { return world_.there(); }
  std::unique_ptr<hca::Listener> listen(std::uint64_t service_id = kService, std::uint32_t backlog = 8) {
    return expect_ok(there().nic().listen(service_id, backlog, log_));
  }
  // The one request that has come.
  std::unique_ptr<hca::ConnectionRequest> take_request() {
    world_.settle();
    EXPECT_EQ(log_.requests.size(), 1u);
    if (log_.requests.empty()) return nullptr;
    auto request = std::move(log_.requests.back());
    log_.requests.pop_back();
    return request;
  }

  World world_;
  ListenerLog log_;
};

TEST_F(ConnectTest, PrivateDataTravelsBothWays) {
  const auto listener = listen();
  Endpoint active(here()), passive(there());
  expect_ok(active.connect(there(), kService, "may I?"));
  EXPECT_EQ(active.qp().state(), QueuePairState::kConnecting);
  const auto request = take_request();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->service_id(), kService);
  EXPECT_EQ(request->remote_address().ipv4, here().address().ipv4);
  const auto asked = request->private_data();
  EXPECT_EQ(std::vector<std::byte>(asked.begin(), asked.end()), bytes("may I?"));
  expect_ok(request->accept(passive.qp(), bytes("yes")));
  EXPECT_EQ(passive.qp().state(), QueuePairState::kAccepting);
  world_.settle();
  EXPECT_EQ(active.events(), "established");
  EXPECT_EQ(active.private_data, bytes("yes"));
  EXPECT_EQ(passive.events(), "established");
  EXPECT_TRUE(passive.private_data.empty());
  EXPECT_EQ(active.qp().state(), QueuePairState::kConnected);
  EXPECT_EQ(passive.qp().state(), QueuePairState::kConnected);
  EXPECT_EQ(active.qp().remote_address().ipv4, there().address().ipv4);
  EXPECT_EQ(passive.qp().remote_address().ipv4, here().address().ipv4);
}

TEST_F(ConnectTest, AllBitsOfAServiceIdCount) {
  const auto listener = listen(kService);
  Endpoint active(here());
  expect_ok(active.connect(there(), kService ^ (std::uint64_t{1} << 63)));
  world_.settle();
  EXPECT_EQ(active.events(), "non-peer-rejected");
  EXPECT_EQ(active.qp().state(), QueuePairState::kError);
}

TEST_F(ConnectTest, AServiceIdHasOneListenerAtATime) {
  auto listener = listen();
  ListenerLog other;
  EXPECT_EQ(reason(there().nic().listen(kService, 1, other)), hca::Error::kAddressInUse);
  EXPECT_TRUE(here().nic().listen(kService, 1, other).ok());
  listener.reset();
  EXPECT_TRUE(there().nic().listen(kService, 1, other).ok());
}

TEST_F(ConnectTest, ARejectionCarriesPrivateData) {
  const auto listener = listen();
  Endpoint active(here());
  expect_ok(active.connect(there()));
  const auto request = take_request();
  expect_ok(request->reject(bytes("no")));
  EXPECT_EQ(reason(request->reject({})), hca::Error::kInvalidState);
  world_.settle();
  EXPECT_EQ(active.events(), "peer-rejected");
  EXPECT_EQ(active.private_data, bytes("no"));
  EXPECT_EQ(active.qp().state(), QueuePairState::kError);
}

TEST_F(ConnectTest, ARequestDroppedUnansweredIsANonPeerRejection) {
  const auto listener = listen();
  Endpoint active(here());
  expect_ok(active.connect(there()));
  take_request().reset();
  world_.settle();
  EXPECT_EQ(active.events(), "non-peer-rejected");
}

TEST_F(ConnectTest, RequestsBeyondTheBacklogAreRefused) {
  const auto listener = listen(kService, 2);
  std::vector<std::unique_ptr<Endpoint>> active;
  for (int i = 0; i < 4; ++i) {
    active.push_back(std::make_unique<Endpoint>(here()));
    expect_ok(active.back()->connect(there()));
  }
  world_.settle();
  EXPECT_EQ(log_.requests.size(), 2u);
  EXPECT_EQ(active[0]->events() + active[1]->events(), "");
  EXPECT_EQ(active[2]->events() + active[3]->events(), "non-peer-rejectednon-peer-rejected");
}

TEST_F(ConnectTest, NobodyAtTheAddressIsUnreachable) {
  Endpoint active(here());
  expect_ok(active.qp().connect({.remote = {.ipv4 = 0x0a0000ff, .port = 0}, .service_id = 1, .private_data = {}}));
  world_.settle();
  EXPECT_EQ(active.events(), "unreachable");
}

TEST_F(ConnectTest, AddressesThatNameNoHostAreRefusedAtOnce) {
  Endpoint active(here());
  for (const std::uint32_t ipv4 : {0u, 0xe0000001u, 0xffffffffu}) {
    const hca::ConnectParameters parameters{.remote = {.ipv4 = ipv4, .port = 0}, .service_id = 1, .private_data = {}};
    EXPECT_EQ(reason(active.qp().connect(parameters)), hca::Error::kBadAddress);
  }
  EXPECT_EQ(active.qp().state(), QueuePairState::kIdle);
}

TEST_F(ConnectTest, TooMuchPrivateDataIsRefusedAndChangesNothing) {
  const auto listener = listen();
  const std::vector<std::byte> much(transport::kMaxPrivateData + 1);
  Endpoint active(here()), passive(there());
  EXPECT_EQ(reason(active.qp().connect({.remote = there().address(), .service_id = kService, .private_data = much})),
            hca::Error::kInvalidArgument);
  expect_ok(active.connect(there()));
  const auto request = take_request();
  EXPECT_EQ(reason(request->accept(passive.qp(), much)), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(request->reject(much)), hca::Error::kInvalidArgument);
  expect_ok(request->accept(passive.qp(), {}));
  world_.settle();
  EXPECT_EQ(active.events(), "established");
}

TEST_F(ConnectTest, NoAnswerBeforeTheDeadlineTimesOut) {
  there().carrier().set_connect_policy(transport::loop::ConnectPolicy::kSwallow);
  Endpoint active(here());
  expect_ok(active.connect(there(), kService, "", std::chrono::seconds(3)));
  world_.pass(std::chrono::milliseconds(2999));
  EXPECT_EQ(active.events(), "");
  world_.pass(std::chrono::milliseconds(1));
  EXPECT_EQ(active.events(), "timed-out");
  EXPECT_EQ(active.qp().state(), QueuePairState::kError);
}

TEST_F(ConnectTest, ADeadlineMetInTimeIsForgotten) {
  const auto listener = listen();
  Endpoint active(here()), passive(there());
  expect_ok(active.connect(there(), kService, "", std::chrono::seconds(3)));
  expect_ok(take_request()->accept(passive.qp(), {}));
  world_.pass(std::chrono::hours(1));
  EXPECT_EQ(active.events(), "established");
}

TEST_F(ConnectTest, AnAcceptAfterThePeerGaveUpFailsAsAnEvent) {
  const auto listener = listen();
  Endpoint active(here()), passive(there());
  expect_ok(passive.recv(1, {}));
  expect_ok(active.connect(there(), kService, "", std::chrono::seconds(1)));
  const auto request = take_request();
  world_.pass(std::chrono::seconds(2));
  EXPECT_EQ(active.events(), "timed-out");
  expect_ok(request->accept(passive.qp(), {}));
  world_.settle();
  EXPECT_EQ(passive.events(), "accept-failed");
  EXPECT_EQ(passive.recvs(), "1:flushed");
  EXPECT_EQ(passive.qp().state(), QueuePairState::kError);
}

TEST_F(ConnectTest, APeerThatGivesUpWhileTheAnswerIsUnderWay) {
  const auto listener = listen();
  Endpoint active(here()), passive(there());
  expect_ok(active.connect(there()));
  expect_ok(take_request()->accept(passive.qp(), {}));
  expect_ok(active.qp().disconnect(false));
  world_.settle();
  EXPECT_EQ(active.events(), "disconnected");
  EXPECT_EQ(passive.events(), "accept-failed");
}

TEST_F(ConnectTest, AnAcceptWithABusyQueuePairLeavesTheRequestAndTheQueuePair) {
  const auto listener = listen();
  Endpoint active(here()), passive(there()), busy(there());
  expect_ok(busy.connect(here(), 99));
  expect_ok(active.connect(there()));
  const auto request = [&] {
    world_.turn_there();
    return std::move(log_.requests.at(0));
  }();
  EXPECT_EQ(busy.qp().state(), QueuePairState::kConnecting);
  EXPECT_EQ(reason(request->accept(busy.qp(), {})), hca::Error::kInvalidState);
  EXPECT_EQ(busy.qp().state(), QueuePairState::kConnecting);
  expect_ok(request->accept(passive.qp(), {}));
  world_.settle();
  EXPECT_EQ(active.events(), "established");
}

TEST_F(ConnectTest, AConnectingQueuePairCannotConnectAgain) {
  Endpoint active(here());
  expect_ok(active.connect(there()));
  EXPECT_EQ(reason(active.connect(there())), hca::Error::kInvalidState);
}

TEST_F(ConnectTest, BothMayConnectToEachOtherAtOnce) {
  ListenerLog here_log;
  const auto here_listener = expect_ok(here().nic().listen(kService, 4, here_log));
  const auto there_listener = listen();
  Endpoint a(here()), b(there()), a_answer(here()), b_answer(there());
  expect_ok(a.connect(there()));
  expect_ok(b.connect(here()));
  world_.settle();
  ASSERT_EQ(log_.requests.size(), 1u);
  ASSERT_EQ(here_log.requests.size(), 1u);
  expect_ok(log_.requests[0]->accept(b_answer.qp(), {}));
  expect_ok(here_log.requests[0]->accept(a_answer.qp(), {}));
  world_.settle();
  EXPECT_EQ(a.events() + b.events() + a_answer.events() + b_answer.events(),
            "establishedestablishedestablishedestablished");
}

TEST_F(ConnectTest, ANicMayConnectToItself) {
  Endpoint active(there()), passive(there());
  const auto listener = listen();
  expect_ok(active.connect(there()));
  expect_ok(take_request()->accept(passive.qp(), {}));
  world_.settle();
  Memory from(there(), bytes("me")), to(there(), 2);
  expect_ok(passive.recv(1, {to.all()}));
  expect_ok(active.send(2, {from.all()}));
  world_.settle();
  EXPECT_EQ(to.text(2), "me");
  EXPECT_EQ(active.sends(), "2:ok");
}

TEST_F(ConnectTest, ARequestOutlivesItsListener) {
  auto listener = listen();
  Endpoint active(here()), passive(there());
  expect_ok(active.connect(there()));
  const auto request = take_request();
  listener.reset();
  expect_ok(request->accept(passive.qp(), {}));
  world_.settle();
  EXPECT_EQ(active.events(), "established");
}

TEST_F(ConnectTest, PostingWorksFromTheMomentTheStateSaysSo) {
  const auto listener = listen();
  Endpoint active(here()), passive(there());
  Memory from(here(), bytes("early")), to(there(), 5);
  expect_ok(passive.recv(1, {to.all()}));
  EXPECT_EQ(reason(active.send(2, {from.all()})), hca::Error::kInvalidState);
  expect_ok(active.connect(there()));
  EXPECT_EQ(reason(active.send(2, {from.all()})), hca::Error::kInvalidState);
  expect_ok(take_request()->accept(passive.qp(), {}));
  world_.turn_here();
  ASSERT_EQ(active.qp().state(), QueuePairState::kConnected);
  EXPECT_EQ(passive.qp().state(), QueuePairState::kAccepting);
  expect_ok(active.send(2, {from.all()}));
  world_.settle();
  EXPECT_EQ(active.sends(), "2:ok");
  EXPECT_EQ(to.text(5), "early");
}

TEST_F(ConnectTest, ThePeersDeathWhileConnectingIsUnreachable) {
  const auto listener = listen();
  Endpoint active(here());
  expect_ok(active.connect(there()));
  const auto request = take_request();
  world_.kill_there();
  world_.settle();
  EXPECT_EQ(active.events(), "unreachable");
}

TEST_F(ConnectTest, RequestSaysWhatThePeerReadsAndFromWhere) {
  const auto listener = listen();
  Endpoint active(here());
  expect_ok(active.connect(there()));
  const auto request = take_request();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->ird(), active.qp().limits().ird);
  EXPECT_EQ(request->ord(), active.qp().limits().ord);
  EXPECT_EQ(request->remote_address().port, active.qp().local_port());
  EXPECT_NE(active.qp().local_port(), 0);
}

TEST_F(ConnectTest, RequestIsHandedOffToAnotherListener) {
  ListenerLog other_log;
  const auto listener = listen();
  const auto other = expect_ok(there().nic().listen(kService + 1, 8, other_log));
  Endpoint active(here()), passive(there());
  expect_ok(active.connect(there(), kService, "may I?"));
  const auto request = take_request();
  ASSERT_TRUE(request);
  EXPECT_EQ(reason(request->hand_off(kService + 2)), hca::Error::kBadAddress);
  expect_ok(request->hand_off(kService + 1));
  EXPECT_EQ(reason(request->hand_off(kService + 1)), hca::Error::kInvalidState);
  EXPECT_EQ(reason(request->accept(passive.qp(), {})), hca::Error::kInvalidState);
  world_.settle();
  ASSERT_EQ(other_log.requests.size(), 1u);
  EXPECT_EQ(other_log.requests.front()->service_id(), kService + 1);
  expect_ok(other_log.requests.front()->accept(passive.qp(), {}));
  world_.settle();
  EXPECT_EQ(active.events(), "established");
  EXPECT_EQ(active.answered_by, kService + 1);
}

TEST_F(ConnectTest, ListenerThatGoesRefusesWhatItWasHanded) {
  ListenerLog other_log;
  const auto listener = listen();
  auto other = expect_ok(there().nic().listen(kService + 1, 8, other_log));
  Endpoint active(here());
  expect_ok(active.connect(there()));
  const auto request = take_request();
  ASSERT_TRUE(request);
  expect_ok(request->hand_off(kService + 1));
  other.reset();
  other_log.requests.clear();
  world_.settle();
  EXPECT_EQ(active.events(), "non-peer-rejected");
}

TEST_F(ConnectTest, HeirTakesTheReceivesAndTheOtherIsOfNoUse) {
  const auto listener = listen();
  Endpoint active(here()), old(there()), heir(there());
  Memory memory(there(), 64);
  for (std::uint64_t id = 1; id <= 3; ++id) expect_ok(old.recv(id, {memory.all()}));
  expect_ok(heir.qp().inherit_recvs(old.qp()));
  EXPECT_EQ(heir.qp().recvs_outstanding(), 3u);
  EXPECT_EQ(old.qp().recvs_outstanding(), 0u);
  EXPECT_EQ(reason(old.recv(4, {memory.all()})), hca::Error::kInvalidState);
  EXPECT_EQ(reason(old.connect(here())), hca::Error::kInvalidState);
  EXPECT_EQ(reason(heir.qp().inherit_recvs(old.qp())), hca::Error::kInvalidState);
  expect_ok(active.connect(there()));
  const auto request = take_request();
  ASSERT_TRUE(request);
  EXPECT_EQ(reason(request->accept(old.qp(), {})), hca::Error::kInvalidState);
  expect_ok(request->accept(heir.qp(), {}));
  world_.settle();
  EXPECT_EQ(heir.events(), "established");
}

TEST_F(ConnectTest, OneHasToldAllWhenTheSinkHasHeardOfTheEndAlsoAfterAReset) {
  Endpoint active(here()), passive(there());
  world_.connect(active, passive);
  EXPECT_TRUE(active.qp().has_told_all());
  expect_ok(active.qp().disconnect(false));
  EXPECT_FALSE(active.qp().has_told_all());
  expect_ok(active.qp().reset());
  EXPECT_FALSE(active.qp().has_told_all());
  world_.settle();
  EXPECT_TRUE(active.qp().has_told_all());
  EXPECT_EQ(active.events(), "disconnected");
}

TEST_F(ConnectTest, OneThatIsRetiredIsOfNoUse) {
  Endpoint idle(there());
  Memory memory(there(), 64);
  expect_ok(idle.recv(1, {memory.all()}));
  EXPECT_EQ(reason(idle.qp().retire()), hca::Error::kInvalidState);
  Endpoint empty(there());
  expect_ok(empty.qp().retire());
  EXPECT_EQ(reason(empty.recv(1, {memory.all()})), hca::Error::kInvalidState);
  EXPECT_EQ(reason(empty.connect(here())), hca::Error::kInvalidState);
  EXPECT_EQ(reason(empty.qp().retire()), hca::Error::kInvalidState);
}

TEST_F(ConnectTest, HeirWithoutRoomLeavesEverythingAsItIs) {
  auto limits = Endpoint::kLimits;
  limits.recv_wr = 2;
  Endpoint old(there()), narrow(there(), limits);
  for (std::uint64_t id = 1; id <= 3; ++id) expect_ok(old.recv(id, {}));
  EXPECT_EQ(reason(narrow.qp().inherit_recvs(old.qp())), hca::Error::kLimitReached);
  EXPECT_EQ(old.qp().recvs_outstanding(), 3u);
  expect_ok(old.recv(4, {}));
}

struct FailureLog final : hca::DeviceSink {
  void on_device_failed() override { ++failures; }
  int failures = 0;
};

TEST_F(ConnectTest, FailureOfTheCarrierIsToldOnceToWhoeverWatchesAndBreaksWhatThereIs) {
  FailureLog early, late, gone;
  here().nic().watch(early);
  here().nic().watch(gone);
  here().nic().forget(gone);
  Endpoint active(here()), passive(there());
  world_.connect(active, passive);
  const auto listener = listen();
  Endpoint waiting(here());
  expect_ok(waiting.connect(there()));
  here().carrier().fail();
  world_.settle();
  EXPECT_EQ(early.failures, 1);
  EXPECT_EQ(gone.failures, 0);
  EXPECT_EQ(active.qp().state(), QueuePairState::kError);
  EXPECT_EQ(passive.qp().state(), QueuePairState::kError);
  EXPECT_EQ(waiting.qp().state(), QueuePairState::kError);
  Endpoint another(here());
  expect_ok(another.connect(there()));
  world_.settle();
  EXPECT_EQ(another.events(), "unreachable");
  EXPECT_EQ(reason(here().nic().listen(kService, 1, log_)), hca::Error::kNoMemory);
  here().nic().watch(late);
  world_.settle();
  EXPECT_EQ(late.failures, 1);
  EXPECT_EQ(early.failures, 1);
  here().nic().forget(early);
  here().nic().forget(late);
}

}  // namespace
}  // namespace softdat::simnic::testing
