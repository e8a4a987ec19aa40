// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/conformance/carrier_test.h"

#include <thread>

namespace softdat::transport::conformance {

bool CarrierTest::reach(const std::function<bool()>& is_done) {
  const base::Time deadline = base::Clock::now() + std::chrono::seconds(100);
  while (!is_done()) {
    if (world_->turn() == 0) {
      if (base::Clock::now() > deadline) return false;
      std::this_thread::yield();
    }
  }
  return true;
}

void CarrierTest::settle() {
  // What is still in the kernel's hands comes within a few idle turns; a test that relies on this
  // for its success states a condition with reach() instead.
  for (int idle = 0; idle < 50;) {
    idle = world_->turn() == 0 ? idle + 1 : 0;
    std::this_thread::yield();
  }
}

void CarrierTest::connect(Peer& active, Peer& passive) {
  PeerPort port(world_->there(), kService, 64);
  ASSERT_TRUE(port.port);
  active.connect(world_->here(), world_->there_address(), kService);
  ASSERT_TRUE(reach([&] { return port.requests.size() == 1; }));
  ASSERT_TRUE(passive.accept(*port.requests[0]));
  ASSERT_TRUE(reach([&] { return active.is_established && passive.is_established; }));
}

std::string name_of(const testing::TestParamInfo<WorldFactory>& info) {
  return info.param.name;
}

}  // namespace softdat::transport::conformance
