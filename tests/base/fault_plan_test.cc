// SPDX-License-Identifier: BSD-2-Clause
#include "base/fault_plan.h"

#include <gtest/gtest.h>

#include "base/edit_distance.h"

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
  expect_words("fail-receive min-size=1", {"min-size= and max-size= do not go with faults of receives"});
  expect_words("delay ms=1 when=after", {"\"when\" is no key of delay"});
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

}  // namespace
}  // namespace softdat::base
