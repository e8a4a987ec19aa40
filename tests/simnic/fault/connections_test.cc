// SPDX-License-Identifier: BSD-2-Clause
// Faults of connections that begin.
#include "tests/scarce_memory.h"
#include "tests/simnic/fault/fault_world.h"

namespace softdat::simnic::testing {
namespace {

using std::chrono::milliseconds;

class ConnectionFaultTest : public FaultTest {
 protected:
  void begin(const std::string& plan) {
    use(plan);
    listener_ = expect_ok(there().nic().listen(kService, 8, log_of_requests_));
  }
  void TearDown() override {
    listener_.reset();
    log_of_requests_.requests.clear();
    FaultTest::TearDown();
  }

  ListenerLog log_of_requests_;
  std::unique_ptr<hca::Listener> listener_;
};

TEST_F(ConnectionFaultTest, ARefusedConnectHasTheReasonAskedFor) {
  const std::pair<const char*, const char*> kReasons[] = {
      {"no-listener", "non-peer-rejected"}, {"rejected", "peer-rejected"}, {"unreachable", "unreachable"}};
  for (const auto& [reason, event] : kReasons) {
    listener_.reset();
    begin(std::string("refuse-connect process=here reason=") + reason);
    expect_ok(active_->connect(there()));
    settle();
    EXPECT_EQ(active_->events(), event);
    EXPECT_TRUE(log_of_requests_.requests.empty());
  }
}

TEST_F(ConnectionFaultTest, TheSecondConnectOfAnEndpointGoesThrough) {
  begin("refuse-connect process=here nth=1");
  expect_ok(active_->connect(there()));
  settle();
  EXPECT_EQ(active_->events(), "non-peer-rejected");
  expect_ok(active_->qp().reset());
  expect_ok(active_->connect(there()));
  settle();
  EXPECT_EQ(log_of_requests_.requests.size(), 1u);
}

TEST_F(ConnectionFaultTest, AnIgnoredConnectTimesOut) {
  begin("ignore-connect process=here");
  expect_ok(active_->connect(there(), kService, "", milliseconds(50)));
  world_->pass(milliseconds(49));
  EXPECT_EQ(active_->events(), "");
  world_->pass(milliseconds(2));
  EXPECT_EQ(active_->events(), "timed-out");
}

TEST_F(ConnectionFaultTest, AConnectLeavesWhenItsPartitionEnds) {
  begin("partition process=here op=connect ms=30");
  expect_ok(active_->connect(there()));
  world_->pass(milliseconds(29));
  EXPECT_TRUE(log_of_requests_.requests.empty());
  world_->pass(milliseconds(2));
  EXPECT_EQ(log_of_requests_.requests.size(), 1u);
}

TEST_F(ConnectionFaultTest, ALateConnectIsAnsweredLate) {
  begin("delay-connect process=here ms=30");
  expect_ok(active_->connect(there()));
  settle();
  EXPECT_TRUE(log_of_requests_.requests.empty());
  world_->pass(milliseconds(30));
  ASSERT_EQ(log_of_requests_.requests.size(), 1u);
  expect_ok(log_of_requests_.requests[0]->accept(passive_->qp(), {}));
  settle();
  EXPECT_EQ(active_->events(), "established");
}

TEST_F(ConnectionFaultTest, PrivateDataIsCutInRequestAndAnswer) {
  begin("cut-private-data op=connect bytes=3; cut-private-data op=accept bytes=2");
  expect_ok(active_->connect(there(), kService, "question"));
  settle();
  ASSERT_EQ(log_of_requests_.requests.size(), 1u);
  const auto data = log_of_requests_.requests[0]->private_data();
  EXPECT_EQ(std::vector<std::byte>(data.begin(), data.end()), bytes("que"));
  const auto answer = bytes("answer");
  expect_ok(log_of_requests_.requests[0]->accept(passive_->qp(), answer));
  settle();
  EXPECT_EQ(active_->events(), "established");
  EXPECT_EQ(active_->private_data, bytes("an"));
}

TEST_F(ConnectionFaultTest, AConnectionIsDroppedAsItBegins) {
  begin("drop-connection process=here op=connect");
  expect_ok(active_->connect(there()));
  settle();
  ASSERT_EQ(log_of_requests_.requests.size(), 1u);
  expect_ok(log_of_requests_.requests[0]->accept(passive_->qp(), {}));
  settle();
  EXPECT_EQ(active_->events(), "established broken");
  EXPECT_EQ(passive_->events(), "established broken");
}

// With SOFTDAT_CONNECT_GRACE a connect without a listener is tried again and again.
TEST_F(ConnectionFaultTest, OneConnectThatIsTriedAgainIsOneConnect) {
  active_.reset();
  passive_.reset();
  world_ = std::make_unique<World>(transport::loop::LoopOptions{}, RnrPolicy::kWait, milliseconds(500),
                                   make_injector("refuse-connect nth=1", "here", log_));
  active_ = std::make_unique<Endpoint>(here());
  listener_ = expect_ok(there().nic().listen(kService, 8, log_of_requests_));
  expect_ok(active_->connect(there()));
  for (int i = 0; i < 600; ++i) world_->pass(milliseconds(1));
  EXPECT_EQ(active_->events(), "non-peer-rejected");
  EXPECT_EQ(log_.text(),
            "refuse-connect process=here ia=sim0 endpoint=1 op=connect number=1 reason=no-listener  # connect\n");
}

// Nobody listens when the delay ends, and the connect is tried again while the grace lasts.
TEST_F(ConnectionFaultTest, AConnectThatIsTriedAgainIsDelayedOnce) {
  active_.reset();
  passive_.reset();
  world_ = std::make_unique<World>(transport::loop::LoopOptions{}, RnrPolicy::kWait, milliseconds(500),
                                   make_injector("delay-connect ms=300", "here", log_));
  active_ = std::make_unique<Endpoint>(here());
  expect_ok(active_->connect(there()));
  for (int i = 0; i < 310; ++i) world_->pass(milliseconds(1));
  listener_ = expect_ok(there().nic().listen(kService, 8, log_of_requests_));
  for (int i = 0; i < 180; ++i) world_->pass(milliseconds(1));
  EXPECT_EQ(log_of_requests_.requests.size(), 1u);
}

TEST_F(ConnectionFaultTest, ADelayedConnectWithoutMemoryIsUnreachable) {
  begin("delay-connect process=here ms=30");
  expect_ok(active_->connect(there()));
  world_->pass(milliseconds(29));
  scarce_memory::allocations_left = 0;
  world_->pass(milliseconds(1));
  scarce_memory::allocations_left = -1;
  EXPECT_EQ(active_->events(), "unreachable");
  EXPECT_TRUE(log_of_requests_.requests.empty());
}

}  // namespace
}  // namespace softdat::simnic::testing
