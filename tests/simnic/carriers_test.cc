// SPDX-License-Identifier: BSD-2-Clause
// The data path between two live NICs over the real carriers, in one process.
#include <thread>

#include "simnic/open.h"
#include "tests/own_address.h"
#include "tests/simnic/live.h"

namespace softdat::simnic::testing {
namespace {

// Registered memory of any device.
class Region {
 public:
  Region(const LiveSide& side, std::vector<std::byte> content, hca::AccessMask access = kEverything)
      : content_(std::move(content)),
        region_(expect_ok(side.device.register_memory(side.pd, address(), content_.size(), access))) {}
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(content_.data()); }
  std::uint32_t key() const { return region_->rkey(); }
  hca::Segment segment(std::size_t offset, std::size_t length) const {
    return {address() + offset, static_cast<std::uint32_t>(length), key()};
  }
  const std::vector<std::byte>& content() const { return content_; }

 private:
  std::vector<std::byte> content_;
  std::unique_ptr<hca::MemoryRegion> region_;
};

// A live NIC with what its endpoints share.
struct Station {
  Station(transport::CarrierKind kind, std::uint32_t ipv4)
      : device(open_nic({.name = "sim", .address = {.ipv4 = ipv4}, .carrier = kind})),
        pd(expect_ok(device->create_pd())),
        cq(expect_ok(device->create_cq(1024, sink))) {}
  LiveSide side() { return {*device, *pd, *cq}; }
  // The next completion, by polling or by sleeping.
  hca::Completion next(bool sleeps) {
    hca::Completion completion{};
    while (cq->poll({&completion, 1}) == 0) {
      if (!sleeps) {
        device->progress();
        continue;
      }
      const auto ticket = cq->event_count().prepare();
      if (cq->size() > 0) {
        cq->event_count().cancel();
      } else {
        device->sleep(cq->event_count(), ticket, base::kNever);
      }
    }
    return completion;
  }
  bool next_is(std::uint64_t wr_id, CompletionStatus status = CompletionStatus::kSuccess) {
    const hca::Completion completion = next(wr_id % 2 == 0);
    EXPECT_EQ(completion.wr_id, wr_id);
    EXPECT_STREQ(name_of(completion.status), name_of(status));
    return completion.wr_id == wr_id && completion.status == status;
  }

  LiveCompletionSink sink;
  std::unique_ptr<hca::Device> device;
  std::unique_ptr<hca::ProtectionDomain> pd;
  std::unique_ptr<hca::CompletionQueue> cq;
};

class CarriersTest : public ::testing::TestWithParam<transport::CarrierKind> {
 protected:
  CarriersTest() {
    // Another program may listen there: take the next.
    for (; !listener_ && service_ < 49'000; ++service_) {
      auto listener = there_.device->listen(service_, 64, acceptor_);
      if (listener) listener_ = std::move(listener).value();
    }
    --service_;
    connect();
  }
  void connect() {
    pair_.reset();
    pair_ = std::make_unique<LivePair>(here_.side(), there_.side(), acceptor_, service_);
  }
  hca::Outcome post(hca::SendOpcode opcode, std::uint64_t wr_id, const Segments& local, const Region* remote = nullptr,
                    std::uint64_t offset = 0) {
    return pair_->active().post_send({.wr_id = wr_id,
                                      .opcode = opcode,
                                      .flags = hca::kSignaled,
                                      .rkey = remote == nullptr ? 0 : remote->key(),
                                      .remote_address = remote == nullptr ? 0 : remote->address() + offset,
                                      .local = local});
  }
  hca::Outcome post_recv(std::uint64_t wr_id, const Segments& local) {
    return pair_->passive().post_recv({.wr_id = wr_id, .local = local});
  }
  bool hears(LiveSink& sink, ConnectionEventType type) {
    return await([&] { return sink.count(type) == 1; });
  }

  std::uint64_t service_ = 45'000 + static_cast<std::uint64_t>(GetParam()) * 1000;
  LiveAcceptor acceptor_;
  Station here_{GetParam(), own_loopback_address(1)};
  Station there_{GetParam(), own_loopback_address(2)};
  std::unique_ptr<hca::Listener> listener_;
  std::unique_ptr<LivePair> pair_;
};
INSTANTIATE_TEST_SUITE_P(All, CarriersTest,
                         ::testing::Values(transport::CarrierKind::kAuto, transport::CarrierKind::kShm,
                                           transport::CarrierKind::kTcp, transport::CarrierKind::kLoop),
                         [](const auto& kind) {
                           return kind.param == transport::CarrierKind::kAuto  ? "Auto"
                                  : kind.param == transport::CarrierKind::kShm ? "Shm"
                                  : kind.param == transport::CarrierKind::kTcp ? "Tcp"
                                                                               : "Loop";
                         });

TEST_P(CarriersTest, AllOperationsOfAllSizes) {
  for (const std::size_t size : {0u, 1u, 7u, 64u, 1000u, 4096u, 70'000u, 3'000'000u}) {
    Region from(here_.side(), pattern(size + 1, size)), back(here_.side(), pattern(size + 1, 7));
    Region to(there_.side(), pattern(size + 1, 8)), inbox(there_.side(), pattern(size + 1, 9));
    const std::size_t half = size / 2;
    const Segments gather{from.segment(0, half), from.segment(half, size - half)};
    const Segments scatter{back.segment(0, size - half), back.segment(size - half, half)};
    expect_ok(post_recv(1, {inbox.segment(0, size)}));
    expect_ok(post(hca::SendOpcode::kWrite, 2, gather, &to));
    expect_ok(post(hca::SendOpcode::kRead, 3, scatter, &to));
    expect_ok(post(hca::SendOpcode::kSend, 4, gather));
    EXPECT_TRUE(there_.next_is(1) && here_.next_is(2) && here_.next_is(3) && here_.next_is(4));
    const auto starts_like = [&](const Region& region) {
      return std::equal(from.content().begin(), from.content().end() - 1, region.content().begin());
    };
    EXPECT_TRUE(starts_like(to)) << size;
    EXPECT_TRUE(starts_like(back)) << size;
    EXPECT_TRUE(starts_like(inbox)) << size;
  }
}

TEST_P(CarriersTest, ASendWaitsForItsReceive) {
  Region from(here_.side(), bytes("patience")), to(there_.side(), bytes("........"));
  Region other(there_.side(), bytes("........"));
  expect_ok(post(hca::SendOpcode::kSend, 1, {from.segment(0, 8)}));
  expect_ok(post(hca::SendOpcode::kWrite, 2, {from.segment(0, 8)}, &other));
  expect_ok(post(hca::SendOpcode::kSend, 3, {from.segment(0, 4)}));
  expect_ok(post_recv(4, {to.segment(0, 8)}));
  EXPECT_TRUE(there_.next_is(4) && here_.next_is(1) && here_.next_is(2));
  EXPECT_EQ(to.content(), bytes("patience"));
  expect_ok(post_recv(6, {to.segment(4, 4)}));
  EXPECT_TRUE(there_.next_is(6) && here_.next_is(3));
  EXPECT_EQ(to.content(), bytes("patipati"));
}

TEST_P(CarriersTest, ARefusedAccessIsLaidAtTheRightDoor) {
  Region local(here_.side(), pattern(1000, 1)), remote(there_.side(), pattern(1000, 2));
  for (const auto opcode : {hca::SendOpcode::kWrite, hca::SendOpcode::kRead}) {
    expect_ok(post(hca::SendOpcode::kWrite, 1, {local.segment(0, 1000)}, &remote));
    expect_ok(post(hca::SendOpcode::kRead, 2, {local.segment(0, 1000)}, &remote));
    expect_ok(post(opcode, 3, {local.segment(0, 1000)}, &remote, 1));
    expect_ok(post(hca::SendOpcode::kWrite, 4, {local.segment(0, 1000)}, &remote));
    EXPECT_TRUE(here_.next_is(1) && here_.next_is(2) && here_.next_is(3, CompletionStatus::kRemoteAccess) &&
                here_.next_is(4, CompletionStatus::kFlushed));
    EXPECT_TRUE(hears(pair_->active_sink(), ConnectionEventType::kBroken));
    EXPECT_TRUE(hears(pair_->passive_sink(), ConnectionEventType::kBroken));
    connect();
  }
}

TEST_P(CarriersTest, ASendLongerThanItsReceiveFailsBoth) {
  Region from(here_.side(), pattern(5000, 1)), to(there_.side(), pattern(5000, 2));
  expect_ok(post_recv(1, {to.segment(0, 4999)}));
  expect_ok(post(hca::SendOpcode::kSend, 2, {from.segment(0, 5000)}));
  EXPECT_TRUE(there_.next_is(1, CompletionStatus::kLocalLength));
  EXPECT_TRUE(here_.next_is(2, CompletionStatus::kRemoteOperation));
}

TEST_P(CarriersTest, AGracefulDisconnectCompletesWhatIsPosted) {
  Region from(here_.side(), pattern(2'000'000, 1)), to(there_.side(), pattern(2'000'000, 2));
  expect_ok(post_recv(9, {}));
  for (std::uint64_t i = 0; i < 4; ++i) expect_ok(post(hca::SendOpcode::kWrite, i, {from.segment(0, 2'000'000)}, &to));
  expect_ok(pair_->active().disconnect(true));
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(here_.next_is(i));
  EXPECT_TRUE(there_.next_is(9, CompletionStatus::kFlushed));
  EXPECT_TRUE(hears(pair_->active_sink(), ConnectionEventType::kDisconnected));
  EXPECT_TRUE(hears(pair_->passive_sink(), ConnectionEventType::kDisconnected));
  EXPECT_EQ(to.content(), from.content());
}

TEST_P(CarriersTest, AVanishedQueuePairIsADisconnect) {
  expect_ok(post_recv(1, {}));
  pair_->destroy_active();
  EXPECT_TRUE(there_.next_is(1, CompletionStatus::kFlushed));
  EXPECT_TRUE(hears(pair_->passive_sink(), ConnectionEventType::kDisconnected));
}

TEST_P(CarriersTest, NobodyListening) {
  LiveSink sink;
  hca::QueuePairConfig config;
  config.pd = here_.pd.get();
  config.send_cq = config.recv_cq = here_.cq.get();
  config.sink = &sink;
  const auto qp = expect_ok(here_.device->create_qp(config));
  listener_.reset();
  expect_ok(qp->connect({.remote = there_.device->attributes().address, .service_id = service_, .private_data = {}}));
  EXPECT_TRUE(hears(sink, ConnectionEventType::kNonPeerRejected));
}

TEST_P(CarriersTest, PingPongFromTwoThreads) {
  constexpr std::uint64_t kRounds = 500;
  Region ping(here_.side(), bytes("ping")), pong(there_.side(), bytes("pong"));
  const Segments ping_segment{ping.segment(0, 4)}, pong_segment{pong.segment(0, 4)};
  const auto play = [&](Station& station, hca::QueuePair& qp, const Segments& segment, bool serves) {
    const auto recv = [&] { expect_ok(qp.post_recv({.wr_id = 1, .local = segment})); };
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      if (serves) expect_ok(qp.post_send({.wr_id = 2, .local = segment}));
      EXPECT_EQ(station.next(i % 100 == 0).wr_id, 1u);
      recv();
      if (!serves) expect_ok(qp.post_send({.wr_id = 2, .local = segment}));
    }
  };
  expect_ok(pair_->active().post_recv({.wr_id = 1, .local = ping_segment}));
  expect_ok(pair_->passive().post_recv({.wr_id = 1, .local = pong_segment}));
  std::jthread other([&] { play(there_, pair_->passive(), pong_segment, false); });
  play(here_, pair_->active(), ping_segment, true);
}

}  // namespace
}  // namespace softdat::simnic::testing
