// SPDX-License-Identifier: BSD-2-Clause
// How connections come to be, and how they do not.
#include <algorithm>

#include "tests/transport/conformance/carrier_test.h"

namespace softdat::transport::conformance {
namespace {

class ConnectTest : public CarrierTest {};
INSTANTIATE_TEST_SUITE_P(All, ConnectTest, testing::ValuesIn(worlds()), name_of);

TEST_P(ConnectTest, BothSidesLearnWhatTheOtherOffers) {
  PeerPort port(world_->there(), kService, 4);
  Peer active, passive;
  active.offer = {.address = {.ipv4 = 0x7f000001, .port = 7},
                  .features = kNotes | kAtomics,
                  .ird = 3,
                  .ord = 5,
                  .private_data = to_bytes("request data")};
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  const Offer& asked = port.requests[0]->offer();
  EXPECT_EQ(asked.service_id, kService);
  EXPECT_EQ(asked.address.ipv4, 0x7f000001u);
  // The carrier itself says that the connector is a neighbour.
  EXPECT_EQ(static_cast<Features>(asked.features & ~kNeighbours), static_cast<Features>(kNotes | kAtomics));
  EXPECT_EQ(asked.ird, 3u);
  EXPECT_EQ(asked.ord, 5u);
  EXPECT_EQ(asked.private_data, to_bytes("request data"));
  EXPECT_TRUE(port.requests[0]->is_alive());

  passive.offer = {.address = {.ipv4 = 0x7f000002},
                   .service_id = kService,
                   .features = kAtomics,
                   .ird = 5,
                   .ord = 2,
                   .private_data = to_bytes("reply")};
  ASSERT_TRUE(passive.accept(*port.requests[0]));
  port.requests.clear();
  ASSERT_TRUE(reach([&] { return active.is_established && passive.is_established; }));
  EXPECT_EQ(active.established_offer.private_data, to_bytes("reply"));
  EXPECT_EQ(active.established_offer.ird, 5u);
  EXPECT_EQ(active.established_offer.ord, 2u);
  EXPECT_EQ(active.channel->features(), static_cast<Features>(kAtomics));
  EXPECT_EQ(passive.channel->features(), static_cast<Features>(kAtomics));
  EXPECT_STREQ(active.channel->carrier_name(), passive.channel->carrier_name());
}

TEST_P(ConnectTest, PrivateDataOfEverySizeArrivesWhole) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{63}, kMaxPrivateData}) {
    PeerPort port(world_->there(), kService, 4);
    Peer active, passive;
    active.offer.private_data = make_pattern(size, 2);
    passive.offer.private_data = make_pattern(kMaxPrivateData - size, 3);
    active.connect(world_->here(), world_->there_address(), kService);
    ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
    EXPECT_EQ(port.requests[0]->offer().private_data, make_pattern(size, 2));
    ASSERT_TRUE(passive.accept(*port.requests[0]));
    ASSERT_TRUE(reach([&] { return active.is_established && passive.is_established; }));
    EXPECT_EQ(active.established_offer.private_data, make_pattern(kMaxPrivateData - size, 3));
  }
}

TEST_P(ConnectTest, ARejectionCarriesItsPrivateData) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, kMaxPrivateData}) {
    PeerPort port(world_->there(), kService, 4);
    Peer active;
    active.connect(world_->here(), world_->there_address(), kService);
    ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
    port.requests[0]->reject(make_pattern(size));
    port.requests.clear();
    ASSERT_TRUE(reach([&] { return !active.refusals.empty(); }));
    EXPECT_EQ(active.refusals, std::vector{Refusal::kByConsumer});
    EXPECT_EQ(active.refusal_data, make_pattern(size));
    EXPECT_EQ(active.channel->send({.opcode = Opcode::kSend}, nullptr), SendResult::kClosed);
  }
}

TEST_P(ConnectTest, NobodyListeningIsNoListener) {
  PeerPort other(world_->there(), kService + 1, 4);
  Peer active;
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return !active.refusals.empty(); }));
  EXPECT_EQ(active.refusals, std::vector{Refusal::kNoListener});
  EXPECT_TRUE(other.requests.empty());
}

TEST_P(ConnectTest, ARequestDestroyedUnansweredIsBusy) {
  PeerPort port(world_->there(), kService, 4);
  Peer active;
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  port.requests.clear();
  ASSERT_TRUE(reach([&] { return !active.refusals.empty(); }));
  EXPECT_EQ(active.refusals, std::vector{Refusal::kBusy});
}

TEST_P(ConnectTest, NobodyAtTheAddressIsARefusal) {
  Peer active;
  active.connect(world_->here(), world_->nowhere_address(), kService);
  ASSERT_TRUE(reach([&] { return !active.refusals.empty(); }));
  EXPECT_TRUE(active.refusals[0] == Refusal::kUnreachable || active.refusals[0] == Refusal::kNoListener);
}

TEST_P(ConnectTest, ServiceIdsDifferInEveryBit) {
  const std::vector<std::uint64_t> ids = {7, 7 | (1ull << 32), 7 | (1ull << 63), 1ull << 16, 1ull << 33, ~0ull};
  std::vector<std::unique_ptr<PeerPort>> ports;
  for (const std::uint64_t id : ids) {
    ports.push_back(std::make_unique<PeerPort>(world_->there(), id, 4));
    ASSERT_TRUE(ports.back()->port) << id;
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Peer active, passive;
    active.connect(world_->here(), world_->there_address(), ids[i]);
    ASSERT_TRUE(reach([&] { return ports[i]->requests.size() == 1; })) << ids[i];
    EXPECT_EQ(ports[i]->requests[0]->offer().service_id, ids[i]);
    ASSERT_TRUE(passive.accept(*ports[i]->requests[0]));
    ASSERT_TRUE(reach([&] { return active.is_established; }));
  }
}

TEST_P(ConnectTest, AServiceIdIsTakenOnceUntilItsPortGoes) {
  auto first = std::make_unique<PeerPort>(world_->there(), kService, 4);
  ASSERT_TRUE(first->port);
  PeerPort second(world_->there(), kService, 4);
  EXPECT_FALSE(second.port);
  EXPECT_EQ(second.error, ListenError::kAddressInUse);
  first.reset();
  PeerPort third(world_->there(), kService, 4);
  EXPECT_TRUE(third.port);
}

TEST_P(ConnectTest, AFullBacklogRefusesAndAnswersMakeRoom) {
  PeerPort port(world_->there(), kService, 2);
  Peer active[3];
  for (int i = 0; i < 2; ++i) {
    active[i].connect(world_->here(), world_->there_address(), kService);
    ASSERT_TRUE(reach([&] { return port.requests.size() == static_cast<std::size_t>(i) + 1; }));
  }
  active[2].connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return !active[2].refusals.empty(); }));
  EXPECT_EQ(active[2].refusals, std::vector{Refusal::kBusy});

  Peer passive, late;
  ASSERT_TRUE(passive.accept(*port.requests[0]));
  late.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 3 && active[0].is_established; }));
}

TEST_P(ConnectTest, RequestsOutliveTheirPort) {
  auto port = std::make_unique<PeerPort>(world_->there(), kService, 4);
  Peer active, passive;
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port->requests.size() == 1; }));
  const auto request = std::move(port->requests[0]);
  port.reset();
  ASSERT_TRUE(passive.accept(*request));
  ASSERT_TRUE(reach([&] { return active.is_established && passive.is_established; }));
}

TEST_P(ConnectTest, AGivenUpConnectIsSeenByTheListener) {
  PeerPort port(world_->there(), kService, 4);
  Peer active, passive;
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  active.channel.reset();
  ASSERT_TRUE(reach([&] { return !port.requests[0]->is_alive(); }));
  EXPECT_FALSE(passive.accept(*port.requests[0]));
  settle();
  EXPECT_FALSE(active.is_established);
  EXPECT_TRUE(passive.closings.empty());
}

TEST_P(ConnectTest, AnAcceptThatIsNeverConfirmedIsLost) {
  PeerPort port(world_->there(), kService, 4);
  Peer active, passive;
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  ASSERT_TRUE(passive.accept(*port.requests[0]));
  active.channel.reset();
  ASSERT_TRUE(reach([&] { return !passive.closings.empty() || passive.is_established; }));
  ASSERT_TRUE(reach([&] { return !passive.closings.empty(); }));
  if (!passive.is_established) {
    EXPECT_EQ(passive.closings, std::vector{CloseReason::kLost});
  }
}

TEST_P(ConnectTest, ThePassiveSideIsConfirmedBeforeTheFirstMessage) {
  PeerPort port(world_->there(), kService, 4);
  Peer active, passive;
  active.after_established = [&] { active.queue_send("at once"); };
  passive.before_message = [&] { EXPECT_TRUE(passive.is_established); };
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  ASSERT_TRUE(passive.accept(*port.requests[0]));
  ASSERT_TRUE(reach([&] { return passive.messages.size() == 1; }));
  EXPECT_EQ(passive.messages[0].text(), "at once");
}

TEST_P(ConnectTest, ThePassiveSideMaySendFromItsConfirmationOn) {
  PeerPort port(world_->there(), kService, 4);
  Peer active, passive;
  passive.after_established = [&] { passive.queue_send("welcome"); };
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  ASSERT_TRUE(passive.accept(*port.requests[0]));
  ASSERT_TRUE(reach([&] { return active.messages.size() == 1; }));
  EXPECT_EQ(active.messages[0].text(), "welcome");
}

TEST_P(ConnectTest, AcceptingFromWithinOnRequestWorks) {
  PeerPort port(world_->there(), kService, 4);
  Peer active, passive;
  port.handler = [&](std::unique_ptr<InboundRequest> request) { EXPECT_TRUE(passive.accept(*request)); };
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return active.is_established && passive.is_established; }));
}

TEST_P(ConnectTest, ChannelsMayBeDestroyedFromWithinTheirFirstCallback) {
  PeerPort port(world_->there(), kService, 4);
  Peer active, passive, refused;
  port.handler = [&](std::unique_ptr<InboundRequest> request) { EXPECT_TRUE(passive.accept(*request)); };
  active.after_established = [&] { active.channel.reset(); };
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return !passive.closings.empty(); }));
  EXPECT_TRUE(active.closings.empty());

  refused.after_refused = [&] { refused.channel.reset(); };
  refused.connect(world_->here(), world_->there_address(), kService + 1);
  ASSERT_TRUE(reach([&] { return !refused.refusals.empty(); }));
}

TEST_P(ConnectTest, APortMayBeDestroyedFromWithinOnRequest) {
  PeerPort port(world_->there(), kService, 4);
  Peer active, passive;
  port.handler = [&](std::unique_ptr<InboundRequest> request) {
    port.port.reset();
    EXPECT_TRUE(passive.accept(*request));
  };
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return active.is_established && passive.is_established; }));
}

TEST_P(ConnectTest, AnEndedPortRefusesWhatComesAfterIt) {
  auto port = std::make_unique<PeerPort>(world_->there(), kService, 4);
  port.reset();
  Peer active;
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return !active.refusals.empty(); }));
  EXPECT_EQ(active.refusals, std::vector{Refusal::kNoListener});
}

TEST_P(ConnectTest, BothSidesMayConnectToEachOtherAtOnce) {
  if (world_->is_one_carrier()) GTEST_SKIP() << "there is one carrier only";
  PeerPort there(world_->there(), kService, 4);
  PeerPort here(world_->here(), kService, 4);
  Peer from_here, from_there, at_here, at_there;
  there.handler = [&](auto request) { EXPECT_TRUE(at_there.accept(*request)); };
  here.handler = [&](auto request) { EXPECT_TRUE(at_here.accept(*request)); };
  from_here.connect(world_->here(), world_->there_address(), kService);
  from_there.connect(world_->there(), world_->here_address(), kService);
  ASSERT_TRUE(reach([&] {
    return from_here.is_established && from_there.is_established && at_here.is_established && at_there.is_established;
  }));
  from_here.queue_send("from here");
  at_here.queue_send("at here");
  ASSERT_TRUE(reach([&] { return at_there.messages.size() + from_there.messages.size() == 2; }));
  EXPECT_EQ(at_there.messages.at(0).text(), "from here");
  EXPECT_EQ(from_there.messages.at(0).text(), "at here");
}

TEST_P(ConnectTest, ManyChannelsComeGoAndComeAgain) {
  PeerPort port(world_->there(), kService, 300);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<Peer>> active, passive;
    port.handler = [&](std::unique_ptr<InboundRequest> request) {
      passive.push_back(std::make_unique<Peer>());
      EXPECT_TRUE(passive.back()->accept(*request));
    };
    for (int i = 0; i < 100; ++i) {
      active.push_back(std::make_unique<Peer>());
      active.back()->offer.private_data = to_bytes(std::to_string(i));
      Peer& peer = *active.back();
      peer.after_established = [&peer, i] { peer.queue_send(std::to_string(i)); };
      peer.connect(world_->here(), world_->there_address(), kService);
    }
    ASSERT_TRUE(reach([&] {
      return passive.size() == 100 &&
             std::ranges::all_of(passive, [](const auto& peer) { return peer->messages.size() == 1; });
    }));
    for (const auto& peer : passive) {
      EXPECT_EQ(to_bytes(peer->messages[0].text()), peer->established_offer.private_data);
    }
  }
}

}  // namespace
}  // namespace softdat::transport::conformance
