// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/failure_text.h"

#include <gtest/gtest.h>

namespace softdat::object {
namespace {

using hca::Failure;
using hca::Rule;

Failure failure_of(Rule rule) {
  Failure failure;
  failure.rule = rule;
  failure.key = 0x102;
  failure.address = 0x1000;
  failure.length = 65;
  failure.needed = hca::kRemoteWrite;
  failure.region = {.key = 0x102, .address = 0x1000, .length = 64, .access = hca::kRemoteRead | hca::kLocalRead};
  return failure;
}

TEST(FailureText, ARangeThatIsOneByteTooLongNamesBothRanges) {
  EXPECT_EQ(rule_text(failure_of(Rule::kOutOfRange)),
            "the range asked for is [0x1000, 0x1041), 65 bytes, but rmr_context 0x102 is that of the region "
            "[0x1000, 0x1040), 64 bytes with local read, remote read: it ends 1 byte too late");
}

TEST(FailureText, ARangeBeforeTheRegionSaysHowFar) {
  Failure failure = failure_of(Rule::kOutOfRange);
  failure.address = 0xff0;
  failure.length = 80;
  EXPECT_NE(rule_text(failure).find(": it begins 16 bytes too early"), std::string::npos);
  failure.length = 82;
  EXPECT_NE(rule_text(failure).find(": it begins 16 bytes too early and ends 2 bytes too late"), std::string::npos);
  failure.length = 8;
  EXPECT_NE(rule_text(failure).find(", which it does not touch"), std::string::npos);
}

TEST(FailureText, AMissingRightHasItsFlag) {
  EXPECT_NE(rule_text(failure_of(Rule::kMissingRight))
                .find("rmr_context 0x102 lacks the right of remote write (DAT_MEM_PRIV_REMOTE_WRITE_FLAG)"),
            std::string::npos);
}

TEST(FailureText, OurOwnKeysAreThoseOfLmrs) {
  Failure failure = failure_of(Rule::kKeyFreed);
  failure.is_local = true;
  EXPECT_TRUE(rule_text(failure).starts_with("lmr_context 0x102 was freed; it was that of the region"))
      << rule_text(failure);
}

TEST(FailureText, WithoutThePeersFactsOursAreLeft) {
  Failure failure = failure_of(Rule::kOutOfRange);
  failure.region = {};
  EXPECT_EQ(rule_text(failure),
            "the range asked for is [0x1000, 0x1041), 65 bytes, which leaves the region of rmr_context 0x102");
}

TEST(FailureText, EveryRuleHasWords) {
  for (int rule = 0; rule <= static_cast<int>(Rule::kDisconnected); ++rule) {
    EXPECT_NE(rule_text(failure_of(static_cast<Rule>(rule))), "") << rule;
  }
}

}  // namespace
}  // namespace softdat::object
