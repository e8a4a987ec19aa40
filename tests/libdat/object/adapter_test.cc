// SPDX-License-Identifier: BSD-2-Clause
// dat_ia_open, dat_ia_close, dat_ia_query.
#include <algorithm>
#include <string>

#include "libdat/object/service_point.h"
#include "tests/libdat/object/waiter.h"

namespace softdat::object {
namespace {

class AdapterTest : public testing::Test {
 protected:
  Status open(std::int32_t qlen, EventDispatcher* async_evd, Handle& ia, Handle& evd, bool is_elsewhere = false) {
    return InterfaceAdapter::open({"fake0", world_.device, &World::kTable, qlen, async_evd, is_elsewhere}, ia, evd);
  }
  Status close(Handle ia, bool is_graceful) {
    return InterfaceAdapter::close(pin_handle<InterfaceAdapter>(ia), is_graceful);
  }

  World world_;
  Handle ia_ = nullptr;
  Handle evd_ = nullptr;
};

TEST_F(AdapterTest, GracefulCloseNeedsEverythingFreed) {
  const Status in_use = invalid_state(StatusDetail::kInvalidStateIaInUse);
  const Handle pz = world_.make_pz();
  EXPECT_EQ(world_.close(true), in_use);
  EXPECT_EQ(ProtectionZone::free(pin_handle<ProtectionZone>(pz)), kOk);
  const Handle cno = world_.make_cno();
  EXPECT_EQ(world_.close(true), in_use);
  EXPECT_EQ(ConsumerNotification::free(cno_of(cno)), kOk);
  EXPECT_EQ(world_.close(true), kOk);
  EXPECT_FALSE(pin_handle<InterfaceAdapter>(world_.ia));
  EXPECT_FALSE(evd_of(world_.async_evd));
}

TEST_F(AdapterTest, AbruptCloseEndsEverything) {
  const Handle pz = world_.make_pz();
  const Handle cno = world_.make_cno();
  const Handle evd = world_.make_evd(kDtoStream | kCrStream | kConnectionStream, 8, cno);
  const Handle ep = world_.make_ep(pz, evd, evd, evd);
  Handle psp = nullptr;
  ASSERT_EQ(ServicePoint::create(*pin_handle<InterfaceAdapter>(world_.ia), 3, *evd_of(evd), true, psp), kOk);
  const auto answer = world_.device->arrive(3);
  EXPECT_EQ(world_.close(false), kOk);
  for (const Handle handle : {pz, cno, evd, ep, psp, world_.async_evd, world_.ia}) {
    EXPECT_FALSE(HandleTable::instance().pin_any(handle));
  }
  EXPECT_TRUE(answer->is_dropped);
  EXPECT_EQ(world_.device->arrive(3), nullptr);
  EXPECT_EQ(world_.device->live_objects.load(), 0);
  EXPECT_EQ(world_.device.use_count(), 1);
}

TEST_F(AdapterTest, AsynchronousDispatcherCanBeShared) {
  const auto shared = evd_of(world_.async_evd);
  ASSERT_EQ(open(1, &*shared, ia_, evd_), kOk);
  EXPECT_EQ(evd_, world_.async_evd);
  pin_handle<InterfaceAdapter>(ia_)->report({ia_, 0, AsyncErrorType::kIaCatastrophic});
  Event event;
  EXPECT_EQ(shared->dequeue(event), kOk);
  EXPECT_EQ(std::get<AsyncError>(event.body).object, ia_);
  EXPECT_EQ(close(ia_, true), kOk);
  EXPECT_TRUE(evd_of(world_.async_evd));
}

// Peers can cause one after the other: each that ends a connection of a shared receive queue, for example.
TEST_F(AdapterTest, ErrorsThatNobodyReadsDoNotFloodStandardError) {
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i)
    pin_handle<InterfaceAdapter>(world_.ia)->report({nullptr, i, AsyncErrorType::kEpBroken});
  const std::string said = testing::internal::GetCapturedStderr();
  const auto lines = std::count(said.begin(), said.end(), '\n');
  EXPECT_GE(lines, 1);
  EXPECT_LE(lines, 5) << said;
}

TEST_F(AdapterTest, FailureOfTheDeviceIsToldToEveryOpening) {
  ASSERT_EQ(open(1, nullptr, ia_, evd_), kOk);
  ASSERT_EQ(world_.device->sinks.size(), 2u);
  for (hca::DeviceSink* sink : world_.device->sinks) sink->on_device_failed();
  for (const auto& [evd, ia] : {std::pair{world_.async_evd, world_.ia}, std::pair{evd_, ia_}}) {
    Event event;
    ASSERT_EQ(evd_of(evd)->dequeue(event), kOk);
    EXPECT_EQ(std::get<AsyncError>(event.body).type, AsyncErrorType::kIaCatastrophic);
    EXPECT_EQ(std::get<AsyncError>(event.body).object, ia);
  }
  EXPECT_EQ(close(ia_, true), kOk);
  EXPECT_EQ(world_.device->sinks.size(), 1u);
}

TEST_F(AdapterTest, OwnerOfASharedDispatcherMayGoFirst) {
  ASSERT_EQ(open(1, &*evd_of(world_.async_evd), ia_, evd_), kOk);
  EXPECT_EQ(world_.close(true), kOk);
  EXPECT_FALSE(evd_of(evd_));
  pin_handle<InterfaceAdapter>(ia_)->report({ia_, 0, AsyncErrorType::kIaCatastrophic});
  EXPECT_EQ(close(ia_, false), kOk);
  EXPECT_EQ(world_.device.use_count(), 1);
}

TEST_F(AdapterTest, DispatcherWithoutTheStreamIsRefused) {
  const Handle other = world_.make_evd(kSoftwareStream);
  EXPECT_EQ(open(1, &*evd_of(other), ia_, evd_), invalid_handle(StatusDetail::kInvalidHandleEvdAsync));
  World elsewhere;
  EXPECT_EQ(open(1, &*evd_of(elsewhere.async_evd), ia_, evd_), invalid_handle(StatusDetail::kInvalidHandleEvdAsync));
  EXPECT_EQ(ia_, nullptr);
}

TEST_F(AdapterTest, DispatcherMayBeElsewhere) {
  ASSERT_EQ(open(0, nullptr, ia_, evd_, true), kOk);
  EXPECT_EQ(evd_, nullptr);
  EXPECT_EQ(close(ia_, true), kOk);
}

TEST_F(AdapterTest, BadLengthIsNamed) {
  for (const std::int32_t qlen : {0, -1, 0x7fffffff}) {
    EXPECT_EQ(open(qlen, nullptr, ia_, evd_), invalid_parameter(StatusDetail::kInvalidArg2));
  }
  EXPECT_EQ(ia_, nullptr);
}

TEST_F(AdapterTest, ClosedAdapterMakesNothing) {
  auto pin = pin_handle<InterfaceAdapter>(world_.ia);
  std::thread closing([&] { EXPECT_EQ(world_.close(false), kOk); });
  EXPECT_TRUE(eventually([&] { return !pin_handle<InterfaceAdapter>(world_.ia); }));
  Handle pz = nullptr;
  EXPECT_EQ(ProtectionZone::create(*pin, pz), invalid_handle(StatusDetail::kInvalidHandleIa));
  pin.reset();
  closing.join();
}

TEST_F(AdapterTest, AttributesAreTheDevices) {
  const AdapterAttributes now = pin_handle<InterfaceAdapter>(world_.ia)->attributes();
  EXPECT_EQ(now.name, "fake0");
  EXPECT_EQ(now.max_eps, 1000);
  EXPECT_EQ(now.max_private_data_size, 64);
  EXPECT_EQ(now.address->inet.sin_family, AF_INET);
  EXPECT_EQ(now.address->inet.sin_addr.s_addr, htonl(0x7f000001));
}

TEST_F(AdapterTest, ContextBelongsToTheObject) {
  auto pz = pin_handle<ProtectionZone>(world_.make_pz());
  EXPECT_EQ(pz->consumer_context(), 0u);
  pz->set_consumer_context(~std::uint64_t{0});
  EXPECT_EQ(HandleTable::instance().pin_any(pz->handle())->consumer_context(), ~std::uint64_t{0});
}

}  // namespace
}  // namespace softdat::object
