// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/words.h"

#include <gtest/gtest.h>

namespace softdat::tools {
namespace {

const std::vector<std::string> kWords{"latency", "bandwidth", "rate", "write"};

TEST(Words, ATypingMistakeIsFound) {
  EXPECT_EQ(did_you_mean("latncy", kWords), ", did you mean \"latency\"?");
  EXPECT_EQ(did_you_mean("laetncy", kWords), ", did you mean \"latency\"?") << "two letters exchanged";
  EXPECT_EQ(did_you_mean("wrxite", kWords), ", did you mean \"write\"?");
}

TEST(Words, TwoExchangedLettersOfAShortWordAreOneMistake) {
  EXPECT_EQ(did_you_mean("tpc", {"shm", "tcp"}), ", did you mean \"tcp\"?");
  EXPECT_EQ(did_you_mean("pct", {"shm", "tcp"}), "") << "not neighbours";
  EXPECT_EQ(did_you_mean("c", {"a", "b"}), "") << "one letter is as near to any other";
}

TEST(Words, TheNearestCandidateWins) {
  EXPECT_EQ(did_you_mean("writ", {"grit", "write"}), ", did you mean \"grit\"?") << "the first of two that are as near";
  EXPECT_EQ(did_you_mean("bandwith", {"bandage", "bandwidth"}), ", did you mean \"bandwidth\"?");
}

TEST(Words, LetterCaseIsNoMistake) {
  EXPECT_EQ(did_you_mean("LATENCY", kWords), ", did you mean \"latency\"?");
  EXPECT_EQ(lower_case("SHM-8k"), "shm-8k");
}

TEST(Words, AnotherWordIsNotSuggested) {
  EXPECT_EQ(did_you_mean("pigeon", kWords), "");
  EXPECT_EQ(did_you_mean("x", kWords), "");
  EXPECT_EQ(did_you_mean("", kWords), "");
  EXPECT_EQ(did_you_mean("rate", {}), "");
}

TEST(Words, AListIsCutAtCommas) {
  EXPECT_EQ(split_list("a,b"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(split_list("").empty());
  EXPECT_EQ(join({"a", "b"}), "a, b");
}

}  // namespace
}  // namespace softdat::tools
