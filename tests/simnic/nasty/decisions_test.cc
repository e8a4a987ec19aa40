// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/decisions.h"

#include <gtest/gtest.h>

#include <string>

namespace softdat::simnic::nasty {
namespace {

std::string all_of(const Decisions& decisions, const Where& where) {
  std::string text;
  for (std::uint64_t number = 1; number <= 64; ++number) {
    const Outbound out = decisions.decide_request(where, number);
    const Inbound in = decisions.decide_arrival(where, number, false);
    const Inbound answer = decisions.decide_answer(where, number);
    for (const std::uint64_t drawn : {std::uint64_t{out.source_late}, std::uint64_t{out.completion_late},
                                      std::uint64_t{in.late}, std::uint64_t{in.torn}, in.order, answer.order}) {
      text += std::to_string(drawn) + ' ';
    }
  }
  return text;
}

TEST(NastyDecisions, AreAFunctionOfSeedNamesAndNumbers) {
  const Decisions one(7, "server", "sim0", nullptr), same(7, "server", "sim0", nullptr);
  const std::string text = all_of(one, {1, 1});
  EXPECT_EQ(all_of(same, {1, 1}), text);
  EXPECT_EQ(all_of(one, {1, 1}), text) << "asked again";
  EXPECT_NE(all_of(one, {2, 1}), text);
  EXPECT_NE(all_of(one, {1, 2}), text);
  EXPECT_NE(all_of(Decisions(8, "server", "sim0", nullptr), {1, 1}), text);
  EXPECT_NE(all_of(Decisions(7, "client", "sim0", nullptr), {1, 1}), text);
  EXPECT_NE(all_of(Decisions(7, "server", "sim1", nullptr), {1, 1}), text);
}

TEST(NastyDecisions, StayWithinTheirLimits) {
  for (std::uint64_t seed = 1; seed <= 32; ++seed) {
    const Decisions decisions(seed, "server", "sim0", nullptr);
    for (std::uint64_t number = 1; number <= 256; ++number) {
      const Outbound out = decisions.decide_request({1, 1}, number);
      const Inbound in = decisions.decide_arrival({1, 1}, number, false);
      ASSERT_LE(out.source_late, 6u);
      ASSERT_LE(out.completion_late, 40u);
      ASSERT_LE(in.late, 40u);
      ASSERT_LE(in.torn, 40u);
    }
  }
}

TEST(NastyDecisions, GarbageNeverEndsAString) {
  const Decisions decisions(1, "server", "sim0", nullptr);
  for (std::uint64_t place = 0; place < 1024; ++place) ASSERT_NE(decisions.garbage(place), std::byte{0});
}

}  // namespace
}  // namespace softdat::simnic::nasty
