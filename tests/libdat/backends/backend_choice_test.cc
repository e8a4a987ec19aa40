// SPDX-License-Identifier: BSD-2-Clause
// The flag: what selects a backend, in which order.
#include "libdat/backends/backend_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace softdat::backends {
namespace {

class BackendChoiceTest : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("SOFTDAT_BACKEND"); }
  void TearDown() override { SetUp(); }

  static void expect(const DeviceChoice& choice, Backend backend, const char* target) {
    const auto chosen = choose_backend(choice);
    ASSERT_TRUE(chosen.has_value()) << choice.name;
    EXPECT_EQ(chosen->backend, backend) << choice.name << " \"" << choice.instance << '"';
    EXPECT_EQ(chosen->target, target) << choice.name << " \"" << choice.instance << '"';
  }
};

TEST_F(BackendChoiceTest, SimulatorUnlessAsked) {
  expect({"sim0", ""}, Backend::kSim, "");
  expect({"ofa-v2-ib0", "  "}, Backend::kSim, "");
  expect({"ib0", "address=127.0.0.1 crc=on"}, Backend::kSim, "");
  expect({"verbs:", ""}, Backend::kSim, "");
}

TEST_F(BackendChoiceTest, InstanceDataSelects) {
  expect({"ib0", "verbs"}, Backend::kVerbs, "");
  expect({"ib0", "verbs:mlx5_0"}, Backend::kVerbs, "mlx5_0");
  expect({"ib0", "crc=on verbs:fe80::1"}, Backend::kVerbs, "fe80::1");
  expect({"ib0", "sim verbs"}, Backend::kSim, "");
}

TEST_F(BackendChoiceTest, NameSelects) {
  expect({"verbs:rxe0", ""}, Backend::kVerbs, "rxe0");
  expect({"verbs:10.1.2.3", "sim"}, Backend::kVerbs, "10.1.2.3");
}

TEST_F(BackendChoiceTest, OfedLinesNameHardware) {
  expect({"ofa-v2-ib0", "ib0 0"}, Backend::kVerbsOrSim, "ib0");
  expect({"ofa-v2-cma-roe", "10.77.0.1 0"}, Backend::kVerbsOrSim, "10.77.0.1");
  expect({"ofa-v2-mlx", "mlx5_0 1"}, Backend::kVerbsOrSim, "mlx5_0");
  expect({"x", "sim 0"}, Backend::kSim, "");
  expect({"x", "ib0 zero"}, Backend::kSim, "");
  expect({"x", "address=127.0.0.1 0"}, Backend::kSim, "");
}

TEST_F(BackendChoiceTest, EnvironmentWins) {
  ::setenv("SOFTDAT_BACKEND", "sim", 1);
  expect({"verbs:rxe0", "verbs:siw0"}, Backend::kSim, "");
  ::setenv("SOFTDAT_BACKEND", "verbs:rxe1", 1);
  expect({"verbs:rxe0", "ib0 0"}, Backend::kVerbs, "rxe1");
}

TEST_F(BackendChoiceTest, EnvironmentTakesTheTargetFromWhatNamesIt) {
  ::setenv("SOFTDAT_BACKEND", "verbs", 1);
  expect({"sim0", ""}, Backend::kVerbs, "");
  expect({"verbs:rxe0", ""}, Backend::kVerbs, "rxe0");
  expect({"ofa-v2-ib0", "ib0 0"}, Backend::kVerbs, "ib0");
  expect({"ib0", "verbs:siw0"}, Backend::kVerbs, "siw0");
}

TEST_F(BackendChoiceTest, UnknownWordInTheEnvironmentIsRefused) {
  for (const char* word : {"hardware", "verbs:", "Sim", "verbs rxe0"}) {
    ::setenv("SOFTDAT_BACKEND", word, 1);
    EXPECT_FALSE(choose_backend({"sim0", ""}).has_value()) << word;
  }
}

}  // namespace
}  // namespace softdat::backends
