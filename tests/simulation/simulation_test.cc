// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/simulation/schedule.h"

namespace softdat::simnic::simulation {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

// `nasty` makes of a seed that of the nasty mode; 0: a friendly NIC.
template <typename Nasty>
void run_schedules(Nasty nasty) {
  const std::uint64_t first = number("SIMULATION_SEED", 1);
  const std::uint64_t count = std::getenv("SIMULATION_SEED") != nullptr ? 1 : number("SIMULATION_COUNT", 1000);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    Schedule schedule(seed, nasty(seed));
    const std::string fault = schedule.run();
    ASSERT_TRUE(fault.empty() && !::testing::Test::HasFailure()) << fault << "; again with SIMULATION_SEED=" << seed;
  }
}

TEST(SimulationTest, EveryScheduleKeepsEveryPromise) {
  run_schedules([](std::uint64_t) { return 0; });
}

TEST(SimulationTest, EveryScheduleKeepsEveryPromiseInNastyMode) {
  run_schedules([](std::uint64_t seed) { return seed; });
}

}  // namespace
}  // namespace softdat::simnic::simulation
