// SPDX-License-Identifier: BSD-2-Clause
// With CONFORMANCE_HOLDS_ADAPTER set, an adapter that no test uses stays open beside theirs, so that a tool finds one
// at any time.
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>

#include "tests/conformance/adapter.h"

namespace softdat::conformance {
namespace {

class HeldAdapter : public testing::Environment {
  void SetUp() override {
    if (std::getenv("CONFORMANCE_HOLDS_ADAPTER") != nullptr) adapter_.emplace("sim2");
  }
  void TearDown() override { adapter_.reset(); }

  std::optional<Adapter> adapter_;
};

// GoogleTest owns it.
[[maybe_unused]] testing::Environment* const held = testing::AddGlobalTestEnvironment(new HeldAdapter);

}  // namespace
}  // namespace softdat::conformance
