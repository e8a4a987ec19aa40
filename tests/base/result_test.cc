// SPDX-License-Identifier: BSD-2-Clause
#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace softdat::base {
namespace {

enum class Reason { kNone, kBecause };

TEST(Result, HoldsAValue) {
  Result<std::unique_ptr<int>, Reason> result = std::make_unique<int>(7);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*std::move(result).value(), 7);
}

TEST(Result, HoldsAReason) {
  const Result<int, Reason> result = Failure{Reason::kBecause};
  ASSERT_FALSE(result);
  EXPECT_EQ(result.reason(), Reason::kBecause);
}

TEST(Result, TellsValueFromReasonOfTheSameType) {
  const Result<std::string, std::string> value = std::string("value");
  const Result<std::string, std::string> reason = Failure<std::string>{"reason"};
  EXPECT_TRUE(value.ok());
  EXPECT_FALSE(reason.ok());
}

struct Nothing {};

TEST(Result, OfNothingIsANumber) {
  const Result<Nothing, Reason> done = Nothing{};
  EXPECT_TRUE(done.ok());
  for (const Reason reason : {Reason::kNone, Reason::kBecause}) {
    const Result<Nothing, Reason> failed = Failure{reason};
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.reason(), reason);
  }
  static_assert(sizeof(done) == sizeof(int));
}

enum class Way { kFirst, kSecond };

TEST(Result, OfTwoEnumerationsIsANumber) {
  for (const Way way : {Way::kFirst, Way::kSecond}) {
    const Result<Way, Reason> went = way;
    ASSERT_TRUE(went.ok());
    EXPECT_EQ(went.value(), way);
  }
  for (const Reason reason : {Reason::kNone, Reason::kBecause}) {
    const Result<Way, Reason> failed = Failure{reason};
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.reason(), reason);
  }
  static_assert(sizeof(Result<Way, Reason>) == sizeof(int));
}

}  // namespace
}  // namespace softdat::base
