// SPDX-License-Identifier: BSD-2-Clause
// The numbers of RFC 5040 section 4.8 and RFC 5041 section 8.2, both ways.
#include "simnic/fault.h"

#include <gtest/gtest.h>

namespace softdat::simnic {
namespace {

using transport::TerminateCode;
using Status = hca::CompletionStatus;

TEST(FaultTest, RefusedWritesCarryDdpsNumbers) {
  EXPECT_EQ(write_refusal(AccessError::kBadKey), (TerminateCode{1, 1, 0}));
  EXPECT_EQ(write_refusal(AccessError::kOutOfRange), (TerminateCode{1, 1, 1}));
  EXPECT_EQ(write_refusal(AccessError::kWrongDomain), (TerminateCode{1, 1, 2}));
  EXPECT_EQ(write_refusal(AccessError::kWraps), (TerminateCode{1, 1, 3}));
  EXPECT_EQ(write_refusal(AccessError::kMissingRight), (TerminateCode{0, 1, 2}));
}

TEST(FaultTest, RefusedReadsCarryRdmapsNumbers) {
  EXPECT_EQ(read_refusal(AccessError::kBadKey), (TerminateCode{0, 1, 0}));
  EXPECT_EQ(read_refusal(AccessError::kOutOfRange), (TerminateCode{0, 1, 1}));
  EXPECT_EQ(read_refusal(AccessError::kMissingRight), (TerminateCode{0, 1, 2}));
  EXPECT_EQ(read_refusal(AccessError::kWrongDomain), (TerminateCode{0, 1, 3}));
  EXPECT_EQ(read_refusal(AccessError::kWraps), (TerminateCode{0, 1, 4}));
}

TEST(FaultTest, EveryRefusalOfAKeyIsARemoteAccessErrorAtItsOrigin) {
  for (const AccessError fault : {AccessError::kBadKey, AccessError::kWrongDomain, AccessError::kWraps,
                                  AccessError::kOutOfRange, AccessError::kMissingRight}) {
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
  EXPECT_EQ(error_of(AccessError::kBadKey), hca::Error::kBadKey);
  EXPECT_EQ(error_of(AccessError::kWrongDomain), hca::Error::kWrongDomain);
  EXPECT_EQ(error_of(AccessError::kWraps), hca::Error::kOutOfRange);
  EXPECT_EQ(error_of(AccessError::kOutOfRange), hca::Error::kOutOfRange);
  EXPECT_EQ(error_of(AccessError::kMissingRight), hca::Error::kMissingRight);
}

}  // namespace
}  // namespace softdat::simnic
