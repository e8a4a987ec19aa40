// SPDX-License-Identifier: BSD-2-Clause
// The numbers of RFC 5040 section 4.8 and RFC 5041 section 8.2, both ways.
#include "simnic/fault.h"

#include <gtest/gtest.h>

namespace softdat::simnic {
namespace {

using transport::TerminateCode;
using Status = hca::CompletionStatus;

TEST(FaultTest, RefusedWritesCarryDdpsNumbers) {
  EXPECT_EQ(write_refusal(KeyFault::kBadKey), (TerminateCode{1, 1, 0}));
  EXPECT_EQ(write_refusal(KeyFault::kOutOfRange), (TerminateCode{1, 1, 1}));
  EXPECT_EQ(write_refusal(KeyFault::kWrongDomain), (TerminateCode{1, 1, 2}));
  EXPECT_EQ(write_refusal(KeyFault::kWraps), (TerminateCode{1, 1, 3}));
  EXPECT_EQ(write_refusal(KeyFault::kMissingRight), (TerminateCode{0, 1, 2}));
}

TEST(FaultTest, RefusedReadsCarryRdmapsNumbers) {
  EXPECT_EQ(read_refusal(KeyFault::kBadKey), (TerminateCode{0, 1, 0}));
  EXPECT_EQ(read_refusal(KeyFault::kOutOfRange), (TerminateCode{0, 1, 1}));
  EXPECT_EQ(read_refusal(KeyFault::kMissingRight), (TerminateCode{0, 1, 2}));
  EXPECT_EQ(read_refusal(KeyFault::kWrongDomain), (TerminateCode{0, 1, 3}));
  EXPECT_EQ(read_refusal(KeyFault::kWraps), (TerminateCode{0, 1, 4}));
}

TEST(FaultTest, EveryRefusalOfAKeyIsARemoteAccessErrorAtItsOrigin) {
  for (const KeyFault fault :
       {KeyFault::kBadKey, KeyFault::kWrongDomain, KeyFault::kWraps, KeyFault::kOutOfRange, KeyFault::kMissingRight}) {
    EXPECT_EQ(status_of(write_refusal(fault)), Status::kRemoteAccess);
    EXPECT_EQ(status_of(read_refusal(fault)), Status::kRemoteAccess);
  }
}

TEST(FaultTest, OtherRefusalsSayWhatTheyCan) {
  EXPECT_EQ(status_of(kNoBuffer), Status::kRnrRetryExceeded);
  EXPECT_EQ(status_of(kMessageTooLong), Status::kRemoteOperation);
  EXPECT_EQ(status_of(kCannotCarryOut), Status::kRemoteOperation);
  EXPECT_EQ(status_of(kLocalCatastrophe), Status::kFlushed);
  EXPECT_EQ(status_of(kUnexpectedOpcode), Status::kRemoteOperation);
  EXPECT_EQ(status_of({2, 0, 2}), Status::kBadResponse);
  EXPECT_EQ(status_of({9, 9, 9}), Status::kBadResponse);
}

TEST(FaultTest, PostsAreToldPrecisely) {
  EXPECT_EQ(error_of(KeyFault::kBadKey), hca::Error::kBadKey);
  EXPECT_EQ(error_of(KeyFault::kWrongDomain), hca::Error::kWrongDomain);
  EXPECT_EQ(error_of(KeyFault::kWraps), hca::Error::kOutOfRange);
  EXPECT_EQ(error_of(KeyFault::kOutOfRange), hca::Error::kOutOfRange);
  EXPECT_EQ(error_of(KeyFault::kMissingRight), hca::Error::kMissingRight);
}

}  // namespace
}  // namespace softdat::simnic
