// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/work_ring.h"

#include <gtest/gtest.h>

#include "base/assert.h"

namespace softdat::verbs {
namespace {

WorkEntry& push(WorkRing& ring, std::uint64_t cookie) {
  WorkEntry& entry = ring.next();
  entry.cookie = cookie;
  ring.commit(entry);
  return entry;
}

TEST(WorkRingTest, HoldsAsManyAsItWasMadeFor) {
  WorkRing ring(3);
  for (std::uint64_t cookie = 0; cookie < 3; ++cookie) push(ring, cookie);
  EXPECT_TRUE(ring.is_full());
  ring.complete(ring.front());
  EXPECT_FALSE(ring.is_full());
  EXPECT_EQ(ring.front().cookie, 1u);
}

TEST(WorkRingTest, CompletionEndsAllBeforeIt) {
  WorkRing ring(4);
  push(ring, 1);
  const WorkEntry& second = push(ring, 2);
  push(ring, 3);
  ring.complete(second);
  EXPECT_EQ(ring.outstanding(), 1u);
  EXPECT_EQ(ring.front().cookie, 3u);
}

TEST(WorkRingTest, RetractedEntryIsGivenOutAgain) {
  WorkRing ring(2);
  push(ring, 1);
  const WorkEntry* const refused = &push(ring, 2);
  ring.retract();
  EXPECT_EQ(ring.outstanding(), 1u);
  EXPECT_EQ(&ring.next(), refused);
}

// Else what has to be seen to of a bind would be passed over where a send was before.
TEST(WorkRingTest, EntryIsNotTakenForAUsualOneSinceTheOneBeforeItWas) {
  WorkRing ring(1);
  WorkEntry& usual = push(ring, 1);
  usual.is_usual = true;
  ring.complete(usual);
  EXPECT_FALSE(ring.next().is_usual);
}

#ifndef NDEBUG
TEST(WorkRingDeathTest, ACompletionBeforeAnEarlierOneIsAMistakeOfOurs) {
  WorkRing ring(4);
  const WorkEntry first = push(ring, 1);
  push(ring, 2);
  ring.complete(ring.front());
  EXPECT_DEATH(ring.complete(first), "a request completes once");
}

TEST(WorkRingDeathTest, ARequestBeyondTheRoomIsAMistakeOfOurs) {
  WorkRing ring(1);
  push(ring, 1);
  EXPECT_DEATH(static_cast<void>(ring.next()), "has room for the next request");
}
#else
// So that a release build pays nothing for it.
TEST(WorkRingTest, ReleaseBuildsDoNotEvaluateDebugChecks) {
  int evaluated = 0;
  SOFTDAT_DEBUG_CHECK(++evaluated == 0, "never");
  EXPECT_EQ(evaluated, 0);
}
#endif

}  // namespace
}  // namespace softdat::verbs
