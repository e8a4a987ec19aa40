// SPDX-License-Identifier: BSD-2-Clause
// An adapter with a profile takes what the device takes, and refuses one more.
#include "simnic/model/profile_file.h"
#include "tests/simnic/world.h"

namespace softdat::simnic::testing {
namespace {

using model::Field;
using model::Profile;

std::shared_ptr<const Profile> profile_of(const std::string& text) {
  auto profile = model::read_profile("test", "name = \"test\"\ntransport = \"infiniband\"\n" + text);
  EXPECT_TRUE(profile.ok()) << (profile.ok() ? "" : profile.reason());
  return std::make_shared<const Profile>(std::move(profile).value());
}

struct QuietSink final : hca::SharedReceiveQueueSink {
  void on_low() override {}
};

struct QuietDatagramSink final : hca::DatagramSink {
  void on_datagram_event(const hca::DatagramEvent&) override {}
};

// A NIC with a profile.
struct Adapter {
  explicit Adapter(const std::shared_ptr<const Profile>& profile)
      : host(network, 0x0a000001, {.drive = Drive::kByHand, .profile = profile}) {}

  std::optional<hca::Error> register_bytes(std::uint64_t length, hca::AccessMask access = hca::kLocalWrite) {
    return reason(host.nic().register_memory(host.pd(), 4096, length, access));
  }
  std::optional<hca::Error> create_cq(std::size_t capacity) {
    CompletionLog log;
    return reason(host.nic().create_cq(capacity, log));
  }
  std::optional<hca::Error> create_qp(const hca::QueuePairLimits& limits) {
    CompletionLog log;
    const auto cq = expect_ok(host.nic().create_cq(16, log));
    return reason(host.nic().create_qp({.pd = &host.pd(), .send_cq = cq.get(), .recv_cq = cq.get(), .limits = limits}));
  }
  std::optional<hca::Error> create_srq(std::uint32_t capacity, std::uint32_t max_sge) {
    QuietSink sink;
    return reason(host.nic().create_srq({.pd = &host.pd(), .capacity = capacity, .max_sge = max_sge, .sink = &sink}));
  }

  transport::loop::LoopNetwork network;
  Host host;
};

class LimitsOfEachDevice : public ::testing::TestWithParam<model::BuiltIn> {
 protected:
  const std::shared_ptr<const Profile> profile_ =
      std::make_shared<const Profile>(model::find_profile(std::string(GetParam().name)).value());
  const hca::DeviceAttributes own_ = Adapter(nullptr).host.nic().attributes();
  Adapter adapter_{profile_};
  const hca::DeviceAttributes& is_ = adapter_.host.nic().attributes();
};

TEST_P(LimitsOfEachDevice, AreTheLesserOfTheDevicesAndTheSimulators) {
  const auto expect = [&](Field field, std::uint64_t is, std::uint64_t own) {
    EXPECT_EQ(is, std::min(profile_->number(field, own), own)) << model::info_of(field).name;
  };
  expect(Field::kMaxQp, is_.max_qp, own_.max_qp);
  expect(Field::kMaxWr, is_.max_wr, own_.max_wr);
  expect(Field::kMaxSge, is_.max_sge, own_.max_sge);
  expect(Field::kMaxReadSge, is_.max_read_sge, std::min(own_.max_read_sge, is_.max_sge));
  expect(Field::kMaxCq, is_.max_cq, own_.max_cq);
  expect(Field::kMaxCqe, is_.max_cqe, own_.max_cqe);
  expect(Field::kMaxMr, is_.max_mr, own_.max_mr);
  expect(Field::kMaxMrSize, is_.max_mr_size, own_.max_mr_size);
  expect(Field::kMaxPd, is_.max_pd, own_.max_pd);
  expect(Field::kMaxMessageSize, is_.max_message_size, own_.max_message_size);
  expect(Field::kMaxReadsIn, is_.max_ird, own_.max_ird);
  expect(Field::kMaxReadsOut, is_.max_ord, own_.max_ord);
  expect(Field::kMaxPrivateData, is_.max_private_data, own_.max_private_data);
  expect(Field::kMaxSrq, is_.max_srq, own_.max_srq);
  expect(Field::kMaxSrqWr, is_.max_srq_wr, own_.max_srq_wr);
  expect(Field::kMaxSrqSge, is_.max_srq_sge, own_.max_srq_sge);
  expect(Field::kMaxMw, is_.max_mw, own_.max_mw);
  expect(Field::kAtomics, is_.has_atomics ? 1 : 0, 1);
  expect(Field::kImmediate, is_.has_immediate ? 1 : 0, 1);
  expect(Field::kDatagrams, is_.has_datagrams ? 1 : 0, 1);
  expect(Field::kZeroBased, is_.has_zero_based ? 1 : 0, 1);
}

TEST_P(LimitsOfEachDevice, OfAnEndpointAreKeptExactly) {
  constexpr hca::QueuePairLimits kLeast{.send_wr = 1, .recv_wr = 1, .send_sge = 1, .recv_sge = 1};
  struct Row {
    std::uint32_t hca::QueuePairLimits::*asked;
    std::uint32_t most;
  };
  const Row rows[] = {{&hca::QueuePairLimits::send_wr, is_.max_wr},   {&hca::QueuePairLimits::recv_wr, is_.max_wr},
                      {&hca::QueuePairLimits::send_sge, is_.max_sge}, {&hca::QueuePairLimits::recv_sge, is_.max_sge},
                      {&hca::QueuePairLimits::ird, is_.max_ird},      {&hca::QueuePairLimits::ord, is_.max_ord}};
  for (const Row& row : rows) {
    hca::QueuePairLimits limits = kLeast;
    limits.*row.asked = row.most;
    EXPECT_EQ(adapter_.create_qp(limits), std::nullopt) << row.most;
    limits.*row.asked = row.most + 1;
    EXPECT_EQ(adapter_.create_qp(limits), hca::Error::kLimitReached) << row.most;
  }
}

TEST_P(LimitsOfEachDevice, OfQueuesAndRegionsAreKeptExactly) {
  EXPECT_EQ(adapter_.create_cq(is_.max_cqe), std::nullopt);
  EXPECT_EQ(adapter_.create_cq(is_.max_cqe + 1), hca::Error::kLimitReached);
  EXPECT_EQ(adapter_.register_bytes(is_.max_mr_size), std::nullopt);
  EXPECT_EQ(adapter_.register_bytes(is_.max_mr_size + 1), hca::Error::kInvalidArgument);
  if (is_.max_srq == 0) {
    EXPECT_EQ(adapter_.create_srq(1, 1), hca::Error::kUnsupported);
    return;
  }
  EXPECT_EQ(adapter_.create_srq(is_.max_srq_wr, 1), std::nullopt);
  EXPECT_EQ(adapter_.create_srq(is_.max_srq_wr + 1, 1), hca::Error::kLimitReached);
  EXPECT_EQ(adapter_.create_srq(1, is_.max_srq_sge), std::nullopt);
  EXPECT_EQ(adapter_.create_srq(1, is_.max_srq_sge + 1), hca::Error::kLimitReached);
}

TEST_P(LimitsOfEachDevice, WhatItLacksIsUnsupported) {
  auto& nic = adapter_.host.nic();
  const auto window = reason(nic.create_window(adapter_.host.pd(), hca::WindowScope::kDomain, 0));
  EXPECT_EQ(window, is_.max_mw == 0 ? std::optional(hca::Error::kUnsupported) : std::nullopt);
  EXPECT_EQ(adapter_.register_bytes(16, hca::kLocalWrite | hca::kZeroBased),
            is_.has_zero_based ? std::nullopt : std::optional(hca::Error::kUnsupported));
  CompletionLog log;
  const auto cq = expect_ok(nic.create_cq(16, log));
  QuietDatagramSink sink;
  const auto datagrams = reason(nic.create_datagram_qp(
      {.pd = &adapter_.host.pd(), .send_cq = cq.get(), .recv_cq = cq.get(), .limits = {1, 1, 1, 1, 0, 0}}, sink));
  EXPECT_EQ(datagrams, is_.has_datagrams ? std::nullopt : std::optional(hca::Error::kUnsupported));
}

TEST_P(LimitsOfEachDevice, CompletionQueuesGrowWhereTheDevicesDo) {
  CompletionLog log;
  const auto cq = expect_ok(adapter_.host.nic().create_cq(16, log));
  const bool can = profile_->number(Field::kCqResize, 1) != 0;
  EXPECT_EQ(reason(cq->resize(1000)), can ? std::nullopt : std::optional(hca::Error::kUnsupported));
  expect_ok(cq->resize(8));
  expect_ok(cq->resize(16));
}

TEST_P(LimitsOfEachDevice, SharedQueuesAreResizedWhereTheDevicesAre) {
  if (is_.max_srq == 0) GTEST_SKIP() << "max_srq is 0";
  QuietSink sink;
  auto srq = expect_ok(
      adapter_.host.nic().create_srq({.pd = &adapter_.host.pd(), .capacity = 8, .max_sge = 1, .sink = &sink}));
  const bool can = profile_->number(Field::kSrqResize, 1) != 0;
  EXPECT_EQ(reason(srq->resize(16)), can ? std::nullopt : std::optional(hca::Error::kUnsupported));
  EXPECT_EQ(srq->capacity(), can ? 16u : 8u);
}

std::string test_name(const ::testing::TestParamInfo<model::BuiltIn>& info) {
  std::string name(info.param.name);
  std::erase(name, '-');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, LimitsOfEachDevice,
                         ::testing::ValuesIn(model::built_in_profiles().begin(), model::built_in_profiles().end()),
                         test_name);

// Creates objects until one is refused, and returns how many there were; then frees one, and there is room again.
template <typename Create>
std::size_t fill(Create create) {
  std::vector<std::remove_cvref_t<decltype(create().value())>> objects;
  for (;;) {
    auto made = create();
    if (!made) {
      EXPECT_EQ(made.reason(), hca::Error::kLimitReached);
      break;
    }
    objects.push_back(std::move(made).value());
  }
  const std::size_t count = objects.size();
  objects.pop_back();
  objects.push_back(expect_ok(create()));
  EXPECT_EQ(reason(create()), hca::Error::kLimitReached);
  return count;
}

TEST(CountsOfObjects, AreKeptExactlyAndFallWhenOneIsFreed) {
  // The host has made one domain.
  Adapter adapter(profile_of("[limits]\nmax_qp = 2\nmax_cq = 3\nmax_mr = 4\nmax_pd = 5\nmax_srq = 6\nmax_mw = 7\n"));
  auto& nic = adapter.host.nic();
  auto& pd = adapter.host.pd();
  EXPECT_EQ(fill([&] { return nic.create_pd(); }), 4u);
  EXPECT_EQ(fill([&] { return nic.register_memory(pd, 4096, 16, hca::kLocalWrite); }), 4u);
  EXPECT_EQ(fill([&] { return nic.create_window(pd, hca::WindowScope::kDomain, 0); }), 7u);
  CompletionLog log;
  EXPECT_EQ(fill([&] { return nic.create_cq(4, log); }), 3u);
  QuietSink sink;
  EXPECT_EQ(fill([&] { return nic.create_srq({.pd = &pd, .capacity = 4, .max_sge = 1, .sink = &sink}); }), 6u);
  const auto cq = expect_ok(nic.create_cq(4, log));
  const hca::QueuePairConfig config{.pd = &pd, .send_cq = cq.get(), .recv_cq = cq.get(), .limits = {1, 1, 1, 1, 0, 0}};
  EXPECT_EQ(fill([&] { return nic.create_qp(config); }), 2u);
}

// A device that rounds takes as many; of one that does not, nothing is simulated.
TEST(WorkQueues, ArePowersOfTwoAsThoseOfDevicesThatRound) {
  CompletionLog log;
  Adapter adapter(profile_of("[rounding]\nwork_queue = \"power-of-two\""));
  const auto cq = expect_ok(adapter.host.nic().create_cq(32, log));
  const auto qp = expect_ok(adapter.host.nic().create_qp(
      {.pd = &adapter.host.pd(), .send_cq = cq.get(), .recv_cq = cq.get(), .limits = {5, 5, 1, 1, 0, 0}}));
  Memory memory(adapter.host, 8);
  const hca::Segment segment = memory.all();
  for (unsigned i = 0; i < 8; ++i) expect_ok(qp->post_recv({.wr_id = i, .local = {&segment, 1}}));
  EXPECT_EQ(reason(qp->post_recv({.wr_id = 8, .local = {&segment, 1}})), hca::Error::kLimitReached);
}

}  // namespace
}  // namespace softdat::simnic::testing
