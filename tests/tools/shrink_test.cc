// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/sweep/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace softdat::tools::sweep {
namespace {

bool has(const Statements& statements, const std::string& words) {
  return std::any_of(statements.begin(), statements.end(),
                     [&](const std::string& statement) { return statement.find(words) != statement.npos; });
}

TEST(ShrinkTest, TheOneStatementThatMattersIsLeft) {
  Statements all;
  for (int i = 1; i <= 100; ++i) all.push_back("delay ms=1 number=" + std::to_string(i));
  all[37] = "drop-connection number=38";
  int runs = 0;
  const auto fails = [&](const Statements& tried) { return ++runs, has(tried, "drop-connection number=38"); };
  EXPECT_EQ(shrink(all, fails), Statements{"drop-connection number=38"});
  EXPECT_LT(runs, 60);
}

TEST(ShrinkTest, StatementsThatMatterTogetherStayInTheirOrder) {
  Statements all;
  for (int i = 1; i <= 20; ++i) all.push_back("note number=" + std::to_string(i));
  const auto fails = [&](const Statements& tried) {
    return has(tried, "number=3") && has(tried, "number=12") && tried.front() != "note number=12";
  };
  const Statements least = shrink(all, fails);
  ASSERT_EQ(least.size(), 2u);
  EXPECT_TRUE(has(least, "number=3") && least[1] == "note number=12");
}

TEST(ShrinkTest, KeysThatDoNotMatterGo) {
  const auto fails = [&](const Statements& tried) { return has(tried, "when=after") && has(tried, "number=7"); };
  EXPECT_EQ(shrink({"drop-connection when=after process=0 ia=sim0 endpoint=1 connection=1 number=7"}, fails),
            Statements{"drop-connection when=after number=7"});
  EXPECT_EQ(shrink({"fail-adapter process=0 number=1"}, [](const Statements&) { return true; }),
            Statements{"fail-adapter"});
}

TEST(ShrinkTest, ANumberIsMadeAsSmallAsItMayBe) {
  const auto fails_from = [](int least) {
    return [least](const Statements& tried) {
      const std::size_t at = tried[0].find("nth=");
      return at != std::string::npos && std::stoi(tried[0].substr(at + 4)) >= least;
    };
  };
  EXPECT_EQ(shrink({"delay ms=1 nth=64"}, fails_from(1)), Statements{"delay nth=1"});
  EXPECT_EQ(shrink({"delay ms=1 nth=64"}, fails_from(16)), Statements{"delay nth=16"});
  EXPECT_EQ(shrink({"delay ms=1 nth=18"}, fails_from(17)), Statements{"delay nth=17"});
}

TEST(ShrinkTest, NothingGoesThatMatters) {
  const Statements one{"drop-connection number=7"};
  EXPECT_EQ(shrink(one, [&](const Statements& tried) { return tried == one; }), one);
}

}  // namespace
}  // namespace softdat::tools::sweep
