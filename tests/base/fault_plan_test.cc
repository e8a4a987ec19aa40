// SPDX-License-Identifier: BSD-2-Clause
#include "base/fault_plan.h"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <string>

#include "base/edit_distance.h"
#include "base/fault_plan_file.h"

namespace softdat::base {
namespace {

FaultPlan expect_plan(std::string_view text) {
  auto plan = read_fault_plan(text);
  EXPECT_TRUE(plan.ok()) << (plan.ok() ? "" : plan.reason().text);
  return plan.ok() ? std::move(plan).value() : FaultPlan{};
}

FaultPlanMistake mistake(std::string_view text) {
  const auto plan = read_fault_plan(text);
  EXPECT_FALSE(plan.ok()) << text;
  return plan.ok() ? FaultPlanMistake{} : plan.reason();
}

void expect_words(std::string_view text, std::initializer_list<std::string_view> words) {
  const std::string said = mistake(text).text;
  for (const std::string_view word : words) EXPECT_NE(said.find(word), said.npos) << said << " lacks " << word;
}

TEST(FaultPlanTest, StatementsAreLinesOrStandBetweenSemicolons) {
  const FaultPlan plan = expect_plan("seed=7\n# nothing\n\ndelay ms=2.5 every=3; fail-request");
  EXPECT_EQ(plan.seed, 7u);
}

TEST(FaultPlanTest, AStatementHasAFaultAndItsKeys) {
  const FaultPlan plan = expect_plan("drop-connection process=server endpoint=2 op=write nth=5 peer=10.77.0.2 # why\n");
  ASSERT_EQ(plan.rules.size(), 1u);
  const FaultRule& rule = plan.rules[0];
  EXPECT_EQ(rule.kind, FaultKind::kDropConnection);
  EXPECT_EQ(rule.stage, FaultStage::kMessage);
  EXPECT_EQ(rule.op, FaultOp::kWrite);
  EXPECT_EQ(rule.process, "server");
  EXPECT_EQ(rule.endpoint, 2u);
  EXPECT_EQ(rule.nth, 5u);
  EXPECT_EQ(rule.word, "before") << "the default";
  EXPECT_EQ(rule.peer, read_ip_address("10.77.0.2"));
}

TEST(FaultPlanTest, TheOperationDecidesTheStage) {
  const FaultPlan plan =
      expect_plan("drop-connection op=accept; fail-create op=lmr reason=memory; fail-post op=recv; note");
  ASSERT_EQ(plan.rules.size(), 4u);
  EXPECT_EQ(plan.rules[0].stage, FaultStage::kConnection);
  EXPECT_EQ(plan.rules[1].stage, FaultStage::kCreation);
  EXPECT_EQ(plan.rules[2].stage, FaultStage::kPost);
  EXPECT_EQ(plan.rules[3].stage, std::nullopt);
}

TEST(FaultPlanTest, AMistakeNamesLineWordWhatIsAllowedAndWhatWasMeant) {
  EXPECT_EQ(mistake("seed=1\n\ndorp-connection nth=1").line, 3u);
  expect_words("dorp-connection", {"\"dorp-connection\" is no fault, did you mean \"drop-connection\"?", "fail-post"});
  expect_words("delay ms=1 endpont=2", {"\"endpont\" is no key of delay, did you mean \"endpoint\"?", "probability"});
  expect_words("drop-connection op=wirte", {"\"wirte\"", "did you mean \"write\"?", "send, write, read"});
  expect_words("drop-connection when=never", {"\"never\"", "before, after, within"});
  expect_words("drop-connection nth=0", {"nth=0", "a whole number from 1 on"});
  expect_words("delay ms=x", {"ms=x", "a number from 0"});
  expect_words("drop-connection probability=2", {"probability=2", "from 0 to 1"});
  expect_words("drop-connection peer=nowhere", {"peer=nowhere", "IP address"});
  expect_words("drop-connection five", {"\"five\" is not KEY=VALUE"});
  expect_words("drop-connection nth=", {"\"nth\" has no value"});
}

TEST(FaultPlanTest, WhatLacksOrContradictsIsRefused) {
  expect_words("delay", {"delay needs ms="});
  expect_words("drop-connection nth=1 every=2", {"one of nth=, every= and probability="});
  expect_words("drop-connection nth=1 nth=2", {"\"nth\" is given twice"});
  expect_words("drop-connection op=connect when=after", {"when= does not go with op=connect"});
  expect_words("seed=1 delay ms=1", {"\"delay\"", "of its own"});
  expect_words("seed=1\nseed=2", {"seed= is given twice"});
  expect_words("delay ms=1 when=after", {"\"when\" is no key of delay"});
}

TEST(FaultPlanTest, KeysThatWouldKeepAFaultFromEverFiringAreRefused) {
  expect_words("fail-receive min-size=1", {"min-size=", "stage arrival"});
  expect_words("fail-create op=lmr endpoint=2", {"endpoint=", "stage creation", "leave it out"});
  expect_words("fail-create peer=10.0.0.1", {"peer=", "stage creation"});
  expect_words("fail-post connection=2", {"connection=", "stage post"});
  expect_words("refuse-connect connection=1", {"connection=", "stage connection"});
  expect_words("drop-connection op=accept connection=1", {"connection=", "stage connection"});
  expect_words("delay ms=1 min-size=5 max-size=4", {"min-size= is above max-size="});
  expect_words("note stage=arrival op=send", {"op=send", "stage arrival"});
  expect_words("note op=lmr stage=post", {"op=lmr", "stage post"});
  expect_plan("note stage=creation op=lmr; note op=lmr endpoint=1; note stage=message op=read; fail-post endpoint=2");
}

TEST(FaultPlanTest, MessagesAreShortAndHaveNoBytesThatATerminalObeys) {
  EXPECT_LT(mistake(std::string(1'000'000, 'x')).text.size(), 1000u);
  EXPECT_LT(mistake("delay ms=" + std::string(1'000'000, '1')).text.size(), 1000u);
  expect_words("del\x80y ms=1", {"\"del\\x80y\" is no fault"});
  using namespace std::literals;
  EXPECT_EQ(mistake("delay ms=1\ndelay ms=1\0 nth=2"sv).line, 2u);
  expect_words("drop-connection process=a\0b nth=5"sv, {"\"\\x00\" is a control character"});
  expect_words("delay ms=\x1b[1m", {"\"\\x1b\" is a control character"});
}

// Returns the processor time that this thread needs to read a plan of `lines` statements, in seconds.
double time_to_read(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += "delay ms=1 nth=5\n";
  const auto now = [] {
    timespec time = {};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  EXPECT_EQ(expect_plan(text).rules.size(), lines);
  return now() - begin;
}

// A log of faults, which is a plan, may be long. Where each line looks for the next comment, ten times the lines take
// fifty times the time.
TEST(FaultPlanTest, TheTimeGrowsWithTheLength) {
  const double shortest = std::min({time_to_read(10'000), time_to_read(10'000), time_to_read(10'000)});
  EXPECT_LT(time_to_read(100'000) / shortest, 30);
}

TEST(FaultPlanFileTest, WhatIsNoFileOrHasNoEndIsRefused) {
  EXPECT_EQ(read_plan_file("/nowhere").reason(), "No such file or directory");
  EXPECT_EQ(read_plan_file("/").reason(), "Is a directory");
  EXPECT_NE(read_plan_file("/dev/zero").reason().find("64 MiB"), std::string::npos);
  EXPECT_EQ(read_plan_file("/dev/null").value(), "");
}

TEST(FaultPlanTest, EveryKindIsReadWithItsKeysAndOperations) {
  for (const std::string_view name : fault_kind_names()) {
    const auto kind = find_fault_kind(name);
    ASSERT_TRUE(kind.has_value());
    const FaultKindRow& row = row_of(*kind);
    EXPECT_EQ(row.name, name);
    std::string needed;
    for (const std::string_view key : words_of(row.required)) needed += " " + std::string(key) + "=1";
    for (const std::string_view op : words_of(row.ops)) {
      EXPECT_TRUE(find_fault_op(op)) << op;
      expect_plan(std::string(name) + needed + " op=" + std::string(op));
    }
    expect_plan(std::string(name) + needed);
  }
}

TEST(EditDistanceTest, NearWordsOnlyAreMeant) {
  constexpr std::string_view kWords[] = {"delay", "jitter"};
  EXPECT_EQ(nearest_word("dealy", kWords), "delay") << "two letters changed places";
  EXPECT_EQ(nearest_word("delayy", kWords), "delay");
  EXPECT_EQ(nearest_word("partition", kWords), "");
}

// nearest_word() stops counting where a word cannot be the nearest any more.
TEST(EditDistanceTest, TheNearestWordIsTheFirstOfTheLeastDistance) {
  const auto words = fault_kind_names();
  for (const std::string_view word : words) {
    for (std::size_t at = 0; at < word.size(); ++at) {
      std::string typo(word);
      at % 2 == 0 ? typo.erase(at, 1 + at % 3) : typo.insert(at, 1 + at % 3, 'e');
      const auto nearer = [&](std::string_view a, std::string_view b) {
        return edit_distance(typo, a) < edit_distance(typo, b);
      };
      const std::string_view least = *std::min_element(words.begin(), words.end(), nearer);
      const std::size_t most = typo.size() < 4 ? 1 : 2;
      EXPECT_EQ(nearest_word(typo, words), edit_distance(typo, least) <= most ? least : "") << typo;
    }
  }
}

}  // namespace
}  // namespace softdat::base
