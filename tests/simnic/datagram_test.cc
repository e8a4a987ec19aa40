// SPDX-License-Identifier: BSD-2-Clause
// Datagrams between NICs on a loop: exchanges, sending to many, and losing without harm.
#include "simnic/datagram.h"

#include <atomic>
#include <thread>

#include "simnic/datagram_queue_pair.h"
#include "simnic/datagram_send_queue.h"
#include "simnic/engine.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

constexpr std::uint32_t kPrefix = hca::kDatagramPrefix;

TEST(DatagramHead, ComesBackAsItWas) {
  for (const bool is_solicited : {false, true}) {
    const DatagramHead head{
        .to = 0xabcdef, .from = 7, .from_ipv4 = 0x7f000001, .length = 3, .is_solicited = is_solicited};
    const auto encoded = encode_datagram_head(head);
    std::vector<std::byte> message(encoded.begin(), encoded.end());
    message.resize(kDatagramHeadSize + 3);
    EXPECT_EQ(decode_datagram_head(message), head);
  }
}

TEST(DatagramHead, AnythingElseIsNone) {
  const auto encoded = encode_datagram_head({.to = 1, .from = 2, .from_ipv4 = 3, .length = 4});
  std::vector<std::byte> message(encoded.begin(), encoded.end());
  for (std::size_t size = 0; size < kDatagramHeadSize + 10; ++size) {
    message.resize(size);
    if (size >= kDatagramHeadSize) std::copy(encoded.begin(), encoded.end(), message.begin());
    EXPECT_EQ(decode_datagram_head(message).has_value(), size == kDatagramHeadSize + 4) << size;
  }
}

TEST(DatagramHead, TheOffersCarryEveryNumber) {
  for (const std::uint32_t number : {1u, 0xfffu, 0x1000u, 0xabcdefu, kMaxQueuePairNumber}) {
    transport::Offer offer;
    set_queue_pair_number(offer, number);
    EXPECT_EQ(queue_pair_number(offer), number);
  }
}

// A datagram queue pair with its queues and what it was told.
class Mailbox final : public hca::QueuePairSink, public hca::DatagramSink {
 public:
  explicit Mailbox(Host& host, std::uint32_t depth = 16)
      : send_cq(expect_ok(host.nic().create_cq(64, log))), recv_cq(expect_ok(host.nic().create_cq(64, log))) {
    hca::QueuePairConfig config;
    config.pd = &host.pd();
    config.send_cq = send_cq.get();
    config.recv_cq = recv_cq.get();
    config.limits = {.send_wr = depth, .recv_wr = depth, .send_sge = 4, .recv_sge = 4};
    config.sink = this;
    qp = expect_ok(host.nic().create_datagram_qp(config, *this));
  }
  hca::Outcome connect(Host& remote) {
    return qp->connect({.remote = remote.address(), .service_id = kService, .private_data = {}});
  }
  hca::Outcome recv(std::uint64_t wr_id, const Segments& local) {
    return qp->post_recv({.wr_id = wr_id, .local = local});
  }
  hca::Outcome send(std::uint64_t wr_id, const hca::AddressHandle& peer, std::uint32_t number, const Segments& local) {
    return qp->post_datagram(
        {.wr_id = wr_id, .flags = hca::kSignaled, .peer = &peer, .qp_number = number, .local = local});
  }
  static std::optional<hca::Completion> next(hca::CompletionQueue& cq) {
    hca::Completion completion{};
    return cq.poll({&completion, 1}) == 1 ? std::optional(completion) : std::nullopt;
  }

  CompletionLog log;
  std::unique_ptr<hca::CompletionQueue> send_cq;
  std::unique_ptr<hca::CompletionQueue> recv_cq;
  std::vector<hca::DatagramEvent> events;
  std::vector<ConnectionEventType> ends;
  std::unique_ptr<hca::DatagramQueuePair> qp;

 private:
  void on_datagram_event(const hca::DatagramEvent& event) override { events.push_back(event); }
  void on_connection_event(const hca::ConnectionEvent& event) override { ends.push_back(event.type); }
};

class DatagramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    listener_ = expect_ok(world_.there().nic().listen(kService, 16, requests_));
    a_ = std::make_unique<Mailbox>(world_.here());
    b_ = std::make_unique<Mailbox>(world_.there());
  }
  // a_ asks, `passive` answers; both have the other's handle afterwards.
  void exchange(Mailbox& passive) {
    expect_ok(a_->connect(world_.there()));
    world_.settle();
    ASSERT_EQ(requests_.requests.size(), 1u);
    EXPECT_TRUE(hca::asks_for_datagrams(*requests_.requests[0]));
    expect_ok(requests_.requests[0]->accept(*passive.qp, bytes("hi")));
    requests_.requests.clear();
    world_.settle();
    ASSERT_FALSE(a_->events.empty());
    ASSERT_FALSE(passive.events.empty());
  }
  const hca::AddressHandle& to_b() { return *a_->events[0].peer; }

  World world_;
  ListenerLog requests_;
  std::unique_ptr<hca::Listener> listener_;
  std::unique_ptr<Mailbox> a_;
  std::unique_ptr<Mailbox> b_;
};

TEST_F(DatagramTest, AnExchangeGivesBothAHandle) {
  exchange(*b_);
  EXPECT_EQ(a_->events[0].type, ConnectionEventType::kEstablished);
  EXPECT_FALSE(a_->events[0].is_passive);
  EXPECT_EQ(a_->events[0].private_data, bytes("hi"));
  EXPECT_EQ(to_b().qp_number(), b_->qp->number());
  EXPECT_TRUE(b_->events[0].is_passive);
  EXPECT_EQ(b_->events[0].peer->qp_number(), a_->qp->number());
  EXPECT_EQ(a_->qp->state(), QueuePairState::kConnected);
  EXPECT_EQ(b_->qp->state(), QueuePairState::kConnected);
}

TEST_F(DatagramTest, ADatagramArrivesBehindItsPrefix) {
  exchange(*b_);
  Memory from(world_.here(), bytes("hello")), to(world_.there(), kPrefix + 8);
  expect_ok(b_->recv(9, {to.all()}));
  expect_ok(a_->send(1, to_b(), to_b().qp_number(), {from.segment(0, 2), from.segment(2, 3)}));
  world_.settle();
  const auto sent = Mailbox::next(*a_->send_cq);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->opcode, CompletionOpcode::kSendDatagram);
  EXPECT_EQ(sent->length, 5u);
  const auto received = Mailbox::next(*b_->recv_cq);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->wr_id, 9u);
  EXPECT_EQ(received->opcode, CompletionOpcode::kRecvDatagram);
  EXPECT_EQ(received->length, kPrefix + 5);
  EXPECT_EQ(to.part(kPrefix, 5), bytes("hello"));
}

TEST_F(DatagramTest, BothWaysOverOneExchangeAndAlsoEmpty) {
  exchange(*b_);
  Memory to(world_.here(), kPrefix);
  expect_ok(a_->recv(9, {to.all()}));
  expect_ok(b_->send(1, *b_->events[0].peer, b_->events[0].peer->qp_number(), {}));
  world_.settle();
  const auto received = Mailbox::next(*a_->recv_cq);
  ASSERT_TRUE(received);
  EXPECT_EQ(received->length, kPrefix);
}

struct OpenNic : Nic {
  using Nic::engine;
};

// Otherwise the thread that has the baton could not leave it for as long as others post.
TEST_F(DatagramTest, APosterThatIsFarAheadWaitsForTheBaton) {
  constexpr std::uint32_t kPosts = 200;
  a_ = std::make_unique<Mailbox>(world_.here(), 256);
  exchange(*b_);
  Memory from(world_.here(), bytes("x"));
  const Segments local{from.all()};
  const auto high_water = [&] { return dynamic_cast<DatagramQueuePair&>(*a_->qp).counts().send_high_water; };
  std::atomic<std::uint32_t> posted{0};
  std::thread poster;
  {
    const Engine::Hold hold((world_.here().nic().*&OpenNic::engine)());
    poster = std::thread([&] {
      for (std::uint32_t i = 0; i < kPosts; ++i) {
        expect_ok(
            a_->qp->post_datagram({.wr_id = i, .peer = &to_b(), .qp_number = to_b().qp_number(), .local = local}));
        posted.fetch_add(1);
      }
    });
    while (high_water() < DatagramSendQueue::kMostAtOnce) std::this_thread::yield();
    EXPECT_LT(posted.load(), DatagramSendQueue::kMostAtOnce);
  }
  poster.join();
  EXPECT_EQ(high_water(), DatagramSendQueue::kMostAtOnce);
  EXPECT_EQ(posted.load(), kPosts);
}

TEST_F(DatagramTest, WithoutAReceiveItIsLostAndNobodySuffers) {
  exchange(*b_);
  Memory from(world_.here(), bytes("12")), to(world_.there(), kPrefix + 1);
  expect_ok(a_->send(1, to_b(), to_b().qp_number(), {from.segment(0, 1)}));
  world_.settle();
  expect_ok(b_->recv(9, {to.all()}));
  world_.settle();
  EXPECT_FALSE(Mailbox::next(*b_->recv_cq));
  expect_ok(a_->send(2, to_b(), to_b().qp_number(), {from.segment(1, 1)}));
  world_.settle();
  EXPECT_TRUE(Mailbox::next(*b_->recv_cq));
  EXPECT_EQ(to.part(kPrefix, 1), bytes("2"));
  EXPECT_TRUE(a_->ends.empty() && b_->ends.empty());
}

TEST_F(DatagramTest, OneThatDoesNotFitIsLostAndItsReceiveStays) {
  exchange(*b_);
  Memory from(world_.here(), bytes("123")), to(world_.there(), kPrefix + 2);
  expect_ok(b_->recv(9, {to.all()}));
  expect_ok(a_->send(1, to_b(), to_b().qp_number(), {from.all()}));
  world_.settle();
  EXPECT_EQ(b_->qp->recvs_outstanding(), 1u);
  expect_ok(a_->send(2, to_b(), to_b().qp_number(), {from.segment(0, 2)}));
  world_.settle();
  EXPECT_TRUE(Mailbox::next(*b_->recv_cq));
}

TEST_F(DatagramTest, NumbersLeadToOtherQueuePairsOverTheSameHandle) {
  exchange(*b_);
  Mailbox c(world_.there());
  Memory from(world_.here(), bytes("c")), to(world_.there(), kPrefix + 1);
  expect_ok(c.recv(3, {to.all()}));
  expect_ok(a_->send(1, to_b(), c.qp->number(), {from.all()}));
  expect_ok(a_->send(2, to_b(), 0xffffff, {from.all()}));
  world_.settle();
  EXPECT_TRUE(Mailbox::next(*c.recv_cq));
  Mailbox other(world_.here());
  expect_ok(c.recv(4, {to.all()}));
  expect_ok(other.send(1, to_b(), c.qp->number(), {from.all()}));
  world_.settle();
  EXPECT_TRUE(Mailbox::next(*c.recv_cq));
}

TEST_F(DatagramTest, AHandleOutlivesTheQueuePairThatGotIt) {
  exchange(*b_);
  const std::shared_ptr<hca::AddressHandle> handle = a_->events[0].peer;
  a_ = std::make_unique<Mailbox>(world_.here());
  Memory from(world_.here(), bytes("x")), to(world_.there(), kPrefix + 1);
  expect_ok(b_->recv(3, {to.all()}));
  expect_ok(a_->send(1, *handle, handle->qp_number(), {from.all()}));
  world_.settle();
  EXPECT_TRUE(Mailbox::next(*b_->recv_cq));
}

TEST_F(DatagramTest, SendingToWhoHasGoneSucceedsAndIsLost) {
  exchange(*b_);
  b_.reset();
  world_.settle();
  Memory from(world_.here(), bytes("x"));
  expect_ok(a_->send(1, to_b(), to_b().qp_number(), {from.all()}));
  world_.settle();
  const auto sent = Mailbox::next(*a_->send_cq);
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->status, CompletionStatus::kSuccess);
  EXPECT_TRUE(a_->ends.empty());
}

TEST_F(DatagramTest, ManyExchangesOnOneQueuePair) {
  for (int i = 0; i < 5; ++i) {
    Mailbox peer(world_.there());
    const std::size_t before = a_->events.size();
    exchange(peer);
    ASSERT_EQ(a_->events.size(), before + 1);
    EXPECT_EQ(a_->events.back().peer->qp_number(), peer.qp->number());
  }
}

TEST_F(DatagramTest, RefusalsTellWhy) {
  expect_ok(a_->connect(world_.there()));
  world_.settle();
  expect_ok(requests_.requests[0]->reject(bytes("no")));
  world_.settle();
  ASSERT_EQ(a_->events.size(), 1u);
  EXPECT_EQ(a_->events[0].type, ConnectionEventType::kPeerRejected);
  EXPECT_EQ(a_->events[0].private_data, bytes("no"));
  listener_.reset();
  expect_ok(a_->connect(world_.there()));
  world_.settle();
  ASSERT_EQ(a_->events.size(), 2u);
  EXPECT_EQ(a_->events[1].type, ConnectionEventType::kNonPeerRejected);
  EXPECT_EQ(a_->qp->state(), QueuePairState::kIdle);
}

TEST_F(DatagramTest, TheTwoKindsDoNotMix) {
  Endpoint connected(world_.there());
  expect_ok(a_->connect(world_.there()));
  world_.settle();
  EXPECT_EQ(reason(requests_.requests[0]->accept(connected.qp(), {})), hca::Error::kInvalidArgument);
  requests_.requests.clear();
  world_.settle();
  Endpoint asking(world_.here());
  expect_ok(asking.connect(world_.there()));
  world_.settle();
  ASSERT_EQ(requests_.requests.size(), 1u);
  EXPECT_FALSE(hca::asks_for_datagrams(*requests_.requests[0]));
  EXPECT_EQ(reason(requests_.requests[0]->accept(*b_->qp, {})), hca::Error::kInvalidArgument);
  requests_.requests.clear();
  EXPECT_EQ(reason(a_->qp->post_send({})), hca::Error::kUnsupported);
}

TEST_F(DatagramTest, WhatCannotBeIsRefusedAtOnce) {
  exchange(*b_);
  Memory from(world_.here(), kMaxDatagram + 1);
  EXPECT_EQ(reason(a_->send(1, to_b(), 1, {from.all()})), hca::Error::kInvalidArgument);
  EXPECT_EQ(reason(a_->send(1, to_b(), 1, {{from.address(), 8, from.key() ^ 1}})), hca::Error::kBadKey);
  EXPECT_EQ(reason(a_->qp->post_datagram({.qp_number = 1})), hca::Error::kInvalidArgument);
  expect_ok(a_->send(1, to_b(), to_b().qp_number(), {from.segment(0, kMaxDatagram)}));
  world_.settle();
  EXPECT_TRUE(Mailbox::next(*a_->send_cq));
}

TEST_F(DatagramTest, DisconnectingFlushesAndResetBeginsAnew) {
  exchange(*b_);
  Memory to(world_.here(), 64);
  expect_ok(a_->recv(1, {to.all()}));
  expect_ok(a_->qp->disconnect(false));
  world_.settle();
  ASSERT_EQ(a_->ends.size(), 1u);
  EXPECT_EQ(a_->ends[0], ConnectionEventType::kDisconnected);
  const auto flushed = Mailbox::next(*a_->recv_cq);
  ASSERT_TRUE(flushed);
  EXPECT_EQ(flushed->status, CompletionStatus::kFlushed);
  EXPECT_EQ(reason(a_->connect(world_.there())), hca::Error::kInvalidState);
  expect_ok(a_->qp->reset());
  EXPECT_EQ(a_->qp->state(), QueuePairState::kIdle);
  a_->events.clear();
  exchange(*b_);
  EXPECT_EQ(a_->qp->state(), QueuePairState::kConnected);
}

TEST_F(DatagramTest, OneThatIsReplacedIsOfNoUse) {
  Memory memory(world_.here(), 64);
  Mailbox heir(world_.here());
  expect_ok(heir.qp->inherit_recvs(*a_->qp));
  EXPECT_EQ(reason(a_->recv(1, {memory.all()})), hca::Error::kInvalidState);
  EXPECT_EQ(reason(a_->connect(world_.there())), hca::Error::kInvalidState);
  EXPECT_EQ(reason(a_->qp->reset()), hca::Error::kInvalidState);
  EXPECT_EQ(reason(a_->qp->retire()), hca::Error::kInvalidState);
  expect_ok(b_->connect(world_.there()));
  world_.settle();
  ASSERT_EQ(requests_.requests.size(), 1u);
  EXPECT_EQ(reason(requests_.requests[0]->accept(*a_->qp, {})), hca::Error::kInvalidState);
}

TEST_F(DatagramTest, OneHasToldAllWhenTheSinkHasHeardOfTheEnd) {
  exchange(*b_);
  EXPECT_TRUE(a_->qp->has_told_all());
  expect_ok(a_->qp->disconnect(false));
  EXPECT_FALSE(a_->qp->has_told_all());
  expect_ok(a_->qp->reset());
  EXPECT_FALSE(a_->qp->has_told_all());
  world_.settle();
  EXPECT_TRUE(a_->qp->has_told_all());
  EXPECT_EQ(a_->ends.size(), 1u);
}

TEST_F(DatagramTest, OneWithReceivesOrAnExchangeUnderWayIsNotReplaced) {
  Memory memory(world_.here(), 64);
  Mailbox heir(world_.here());
  expect_ok(a_->recv(1, {memory.all()}));
  EXPECT_EQ(reason(heir.qp->inherit_recvs(*a_->qp)), hca::Error::kInvalidState);
  EXPECT_EQ(a_->qp->recvs_outstanding(), 1u);
  Mailbox busy(world_.here());
  expect_ok(busy.connect(world_.there()));
  EXPECT_EQ(reason(heir.qp->inherit_recvs(*busy.qp)), hca::Error::kInvalidState);
  world_.settle();
  expect_ok(requests_.requests[0]->reject({}));
  requests_.requests.clear();
  world_.settle();
  ASSERT_EQ(busy.events.size(), 1u);
  expect_ok(heir.qp->inherit_recvs(*busy.qp));
}

TEST_F(DatagramTest, TheOtherKindTakesThePlaceOfOneWithoutReceives) {
  Memory memory(world_.here(), 64);
  Endpoint connected(world_.here());
  expect_ok(a_->recv(1, {memory.all()}));
  EXPECT_EQ(reason(connected.qp().inherit_recvs(*a_->qp)), hca::Error::kInvalidState);
  Mailbox empty(world_.here());
  expect_ok(connected.qp().inherit_recvs(*empty.qp));
  EXPECT_EQ(reason(empty.recv(1, {memory.all()})), hca::Error::kInvalidState);
  expect_ok(connected.recv(2, {memory.all()}));
  EXPECT_EQ(reason(empty.qp->inherit_recvs(connected.qp())), hca::Error::kInvalidState);
  Endpoint idle(world_.here());
  Mailbox heir(world_.here());
  expect_ok(heir.qp->inherit_recvs(idle.qp()));
  EXPECT_EQ(reason(idle.recv(1, {memory.all()})), hca::Error::kInvalidState);
}

TEST_F(DatagramTest, OneWhoseMemoryIsGoneFailsAlone) {
  exchange(*b_);
  Memory gone(world_.there(), 64), to(world_.there(), 64), from(world_.here(), bytes("x"));
  expect_ok(b_->recv(1, {gone.all()}));
  expect_ok(b_->recv(2, {to.all()}));
  gone.deregister();
  for (int i = 0; i < 2; ++i) expect_ok(a_->send(1, to_b(), to_b().qp_number(), {from.all()}));
  world_.settle();
  EXPECT_EQ(Mailbox::next(*b_->recv_cq)->status, CompletionStatus::kLocalProtection);
  EXPECT_EQ(Mailbox::next(*b_->recv_cq)->status, CompletionStatus::kSuccess);
}

TEST(DatagramOverANarrowChannel, WhatIsNotLostComesWholeAndInOrder) {
  World world({.seed = 9, .capacity = 900, .max_per_send = 200, .max_chunk = 70, .random_chunks = true});
  ListenerLog requests;
  auto listener = expect_ok(world.there().nic().listen(kService, 16, requests));
  Mailbox a(world.here(), 64), b(world.there(), 64);
  expect_ok(a.connect(world.there()));
  world.settle();
  expect_ok(requests.requests[0]->accept(*b.qp, {}));
  requests.requests.clear();
  world.settle();
  const auto content = pattern(60 * 50, 4);
  Memory from(world.here(), content), to(world.there(), 50 * (kPrefix + 60));
  for (std::uint64_t i = 0; i < 50; ++i) {
    expect_ok(b.recv(i, {to.segment(i * (kPrefix + 60), kPrefix + 60)}));
    expect_ok(a.send(i, *a.events[0].peer, b.qp->number(), {from.segment(i * 60, 60)}));
  }
  world.settle();
  for (std::uint64_t i = 0; i < 50; ++i) {
    const auto received = Mailbox::next(*b.recv_cq);
    ASSERT_TRUE(received) << i;
    EXPECT_EQ(received->wr_id, i);
    EXPECT_EQ(to.part(i * (kPrefix + 60) + kPrefix, 60), from.part(i * 60, 60));
  }
}

TEST(DatagramGrace, AnExchangeFindsAListenerThatComesAMomentLater) {
  World world({}, RnrPolicy::kWait, std::chrono::milliseconds(100));
  Mailbox early(world.here()), late(world.here()), passive(world.there());
  ListenerLog log;
  expect_ok(early.connect(world.there()));
  for (int i = 0; i < 20; ++i) world.pass(std::chrono::milliseconds(1));
  EXPECT_TRUE(early.events.empty());
  {
    const auto listener = expect_ok(world.there().nic().listen(kService, 4, log));
    for (int i = 0; i < 40; ++i) world.pass(std::chrono::milliseconds(1));
    ASSERT_EQ(log.requests.size(), 1u);
    expect_ok(log.requests[0]->accept(*passive.qp, {}));
    world.settle();
  }
  ASSERT_EQ(early.events.size(), 1u);
  EXPECT_EQ(early.events[0].type, ConnectionEventType::kEstablished);
  expect_ok(late.connect(world.there()));
  for (int i = 0; i < 200; ++i) world.pass(std::chrono::milliseconds(1));
  ASSERT_EQ(late.events.size(), 1u);
  EXPECT_EQ(late.events[0].type, ConnectionEventType::kNonPeerRejected);
}

}  // namespace
}  // namespace softdat::simnic::testing
