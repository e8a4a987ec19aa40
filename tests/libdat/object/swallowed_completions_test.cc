// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/swallowed_completions.h"

#include "tests/libdat/object/world.h"

namespace softdat::object {
namespace {

TEST(SwallowedCompletionsTest, EmptiesItselfAsCompletionsCome) {
  World world;
  const auto swallowed = SwallowedCompletions::create(*world.device, 4, true);
  ASSERT_TRUE(swallowed);
  FakeCompletionQueue& queue = *world.device->queues.back();
  for (std::uint64_t i = 0; i < 3; ++i)
    queue.add({i, 0, 0, hca::CompletionStatus::kSuccess, hca::CompletionOpcode::kRecv, false});
  EXPECT_EQ(queue.size(), 0u);
}

// The device waits for the call when it destroys the queue.
TEST(SwallowedCompletionsTest, ACallOfTheSinkMayBeUnderWayWhenItEnds) {
  World world;
  auto swallowed = SwallowedCompletions::create(*world.device, 4, true);
  ASSERT_TRUE(swallowed);
  FakeCompletionQueue& queue = *world.device->queues.back();
  queue.call_sink_at_end();
  bool has_armed = false;
  queue.before_arming([&] { has_armed = true; });
  swallowed->reset();
  EXPECT_TRUE(has_armed);
}

}  // namespace
}  // namespace softdat::object
