// SPDX-License-Identifier: BSD-2-Clause
// The fixture of every conformance test: a world, and waiting for something to become true in it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "tests/transport/conformance/peer.h"
#include "tests/transport/conformance/world.h"

namespace softdat::transport::conformance {

inline constexpr std::uint64_t kService = 0x1234'5678'9abc'def0;

class CarrierTest : public testing::TestWithParam<WorldFactory> {
 protected:
  void SetUp() override { world_ = GetParam().make(); }

  // Turns until `is_done` holds or the deadline has passed; which of the two.
  [[nodiscard]] bool reach(const std::function<bool()>& is_done);
  // Turns for a while after nothing has moved any more: for "and nothing else happens".
  void settle();

  // Establishes active at here() with passive at there().
  void connect(Peer& active, Peer& passive);

  std::unique_ptr<World> world_;
};

std::string name_of(const testing::TestParamInfo<WorldFactory>& info);

}  // namespace softdat::transport::conformance
