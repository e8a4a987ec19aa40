// SPDX-License-Identifier: BSD-2-Clause
// How the parts of a FaultySender count requests.
#include <gtest/gtest.h>

#include "simnic/fault/rate_limit.h"
#include "simnic/fault/request_numbers.h"

namespace softdat::simnic::fault {
namespace {

using transport::Opcode;

TEST(RequestNumbers, ARequestThatIsSentAgainIsTriedForTheFirstTimeOnce) {
  RequestNumbers numbers;
  EXPECT_TRUE(numbers.is_first_try());
  EXPECT_FALSE(numbers.is_first_try());
  numbers.take(Opcode::kSend);
  EXPECT_TRUE(numbers.is_first_try());
  numbers.take(Opcode::kSend);
  numbers.rewind(0);
  EXPECT_EQ(numbers.next(), 0u);
  EXPECT_FALSE(numbers.is_first_try());
}

TEST(RequestNumbers, AnAnswerAcknowledgesItsReadAndAllBefore) {
  RequestNumbers numbers;
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kReadRequest, Opcode::kSend, Opcode::kAtomicRequest}) {
    numbers.take(opcode);
  }
  EXPECT_EQ(numbers.take_answer(), 2u);
  numbers.acknowledge(2);
  EXPECT_EQ(numbers.take_answer(), 4u);
  EXPECT_EQ(numbers.take_answer(), 2u);  // nothing waits for an answer
}

TEST(RequestNumbers, AReadThatIsSentAgainWaitsForOneAnswer) {
  RequestNumbers numbers;
  numbers.take(Opcode::kSend);
  numbers.take(Opcode::kReadRequest);
  numbers.rewind(1);
  numbers.take(Opcode::kReadRequest);
  EXPECT_EQ(numbers.take_answer(), 2u);
  EXPECT_EQ(numbers.take_answer(), 0u);
}

TEST(RequestNumbers, AsManyReadsAsAQueuePairMayHaveAreAnsweredInTurn) {
  RequestNumbers numbers;
  for (std::uint64_t i = 0; i < kMostReads; ++i) numbers.take(Opcode::kReadRequest);
  for (std::uint64_t i = 0; i < 3 * kMostReads; ++i) {
    EXPECT_EQ(numbers.take_answer(), i + 1);
    numbers.take(Opcode::kReadRequest);
  }
  numbers.rewind(3 * kMostReads + 1);
  EXPECT_EQ(numbers.take_answer(), 3 * kMostReads + 1);
  EXPECT_EQ(numbers.take_answer(), 0u);
}

TEST(RequestNumbers, AnAcknowledgementThatComesLateTakesNothingBack) {
  RequestNumbers numbers;
  numbers.acknowledge(3);
  numbers.acknowledge(1);
  EXPECT_EQ(numbers.acknowledged(), 3u);
}

TEST(RateLimit, ARequestIsCountedOnceAndTakesItsTime) {
  RateLimit rate;
  EXPECT_FALSE(rate.applies_to(0));
  rate.set(1000);
  const base::Time now{std::chrono::seconds(1)};
  ASSERT_TRUE(rate.applies_to(0));
  EXPECT_LE(rate.free_at(), now);
  rate.charge(0, 500, now);
  EXPECT_EQ(rate.free_at(), now + std::chrono::milliseconds(500));
  EXPECT_FALSE(rate.applies_to(0));
  EXPECT_TRUE(rate.applies_to(1));
}

}  // namespace
}  // namespace softdat::simnic::fault
