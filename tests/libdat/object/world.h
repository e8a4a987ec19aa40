// SPDX-License-Identifier: BSD-2-Clause
// An open IA on a fake device, and short words for what every test makes.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "libdat/object/consumer_notification.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/timeout.h"
#include "tests/libdat/object/fake_device.h"

namespace softdat::object {

inline constexpr std::uint32_t kPatienceUs = 20'000'000;
inline constexpr std::uint32_t kShortWaitUs = 20'000;

inline void PrintTo(const Status& status, std::ostream* out) {
  *out << "{type " << static_cast<int>(status.type) << ", detail " << static_cast<int>(status.detail) << "}";
}

// Polls until `predicate` holds; false when it does not in a long time.
inline bool eventually(const std::function<bool()>& predicate) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!predicate()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class World {
 public:
  World() : World(std::make_shared<FakeDevice>()) {}
  explicit World(std::shared_ptr<FakeDevice> on) : device(std::move(on)) {
    AdapterOpening opening;
    opening.name = "fake0";
    opening.device = device;
    opening.provider_table = &kTable;
    opening.async_qlen = 8;
    EXPECT_EQ(InterfaceAdapter::open(opening, ia, async_evd), kOk);
  }
  ~World() {
    if (auto pin = pin_handle<InterfaceAdapter>(ia)) {
      EXPECT_EQ(InterfaceAdapter::close(std::move(pin), false), kOk);
    }
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Status close(bool is_graceful) { return InterfaceAdapter::close(pin_handle<InterfaceAdapter>(ia), is_graceful); }

  Handle make_evd(std::uint32_t streams, std::int32_t qlen = 16, Handle cno = nullptr) {
    Handle evd = nullptr;
    const auto notification = pin_handle<ConsumerNotification>(cno);
    EXPECT_EQ(EventDispatcher::create(*pin_handle<InterfaceAdapter>(ia), qlen, notification.get(), streams, evd), kOk);
    return evd;
  }
  Handle make_cno(WaitAgent agent = {}) {
    Handle cno = nullptr;
    EXPECT_EQ(ConsumerNotification::create(*pin_handle<InterfaceAdapter>(ia), agent, cno), kOk);
    return cno;
  }
  Handle make_pz() {
    Handle pz = nullptr;
    EXPECT_EQ(ProtectionZone::create(*pin_handle<InterfaceAdapter>(ia), pz), kOk);
    return pz;
  }
  // Nulls are allowed.
  Status try_ep(Handle pz, Handle recv, Handle request, Handle connect, Handle& ep,
                const EndpointAttributes* attributes = nullptr) {
    const auto zone = pin_handle<ProtectionZone>(pz);
    const auto recv_evd = pin_handle<EventDispatcher>(recv);
    const auto request_evd = pin_handle<EventDispatcher>(request);
    const auto connect_evd = pin_handle<EventDispatcher>(connect);
    return Endpoint::create(*pin_handle<InterfaceAdapter>(ia),
                            {zone.get(), recv_evd.get(), request_evd.get(), connect_evd.get(), attributes}, ep);
  }
  Handle make_ep(Handle pz, Handle recv, Handle request, Handle connect,
                 const EndpointAttributes* attributes = nullptr) {
    Handle ep = nullptr;
    EXPECT_EQ(try_ep(pz, recv, request, connect, ep, attributes), kOk);
    return ep;
  }

  static constexpr int kTable = 0;
  std::shared_ptr<FakeDevice> device;
  Handle ia = nullptr;
  Handle async_evd = nullptr;
};

inline Pin<EventDispatcher> evd_of(Handle handle) {
  return pin_handle<EventDispatcher>(handle);
}
inline Pin<ConsumerNotification> cno_of(Handle handle) {
  return pin_handle<ConsumerNotification>(handle);
}
inline Pin<Endpoint> ep_of(Handle handle) {
  return pin_handle<Endpoint>(handle);
}

inline void post_software(Handle evd, std::uintptr_t value) {
  ASSERT_EQ(evd_of(evd)->post_software(reinterpret_cast<void*>(value)), kOk);
}
inline std::uintptr_t software_value(const Event& event) {
  return reinterpret_cast<std::uintptr_t>(std::get<SoftwareEvent>(event.body).pointer);
}

}  // namespace softdat::object
