// SPDX-License-Identifier: BSD-2-Clause
// The border between the port's words and DAT's.
#include "libdat/object/hca_status.h"

#include "tests/libdat/object/world.h"

namespace softdat::object {
namespace {

TEST(HcaStatus, CreationsAreRefusedInDatsWords) {
  const auto refusal = [](hca::Error error) {
    return creation_failure(error, StatusDetail::kResourceTep, StatusDetail::kInvalidArg3);
  };
  EXPECT_EQ(refusal(hca::Error::kNoMemory), insufficient_resources(StatusDetail::kResourceMemory));
  EXPECT_EQ(refusal(hca::Error::kLimitReached), insufficient_resources(StatusDetail::kResourceTep));
  EXPECT_EQ(refusal(hca::Error::kInvalidArgument), invalid_parameter(StatusDetail::kInvalidArg3));
  EXPECT_EQ(refusal(hca::Error::kUnsupported), model_not_supported());
  EXPECT_EQ(refusal(hca::Error::kAddressInUse).type, StatusType::kConnQualInUse);
  EXPECT_EQ(refusal(hca::Error::kBadAddress).type, StatusType::kInvalidAddress);
}

// A device without windows, or without wide windows that count from 0.
TEST(HcaStatus, ABindThatTheDeviceCannotIsAnUnsupportedModel) {
  EXPECT_EQ(bind_failure(hca::Error::kUnsupported, 0, StatusDetail::kInvalidArg2), model_not_supported());
}

TEST(HcaStatus, MissingDeviceIsAMissingProvider) {
  EXPECT_EQ(opening_failure(hca::Error::kNoDevice).type, StatusType::kProviderNotFound);
  EXPECT_EQ(opening_failure(hca::Error::kNoMemory).type, StatusType::kInsufficientResources);
}

TEST(HcaStatus, EveryCompletionStatusHasItsOwn) {
  EXPECT_EQ(dto_status(hca::CompletionStatus::kSuccess), DtoStatus::kSuccess);
  EXPECT_EQ(dto_status(hca::CompletionStatus::kFlushed), DtoStatus::kFlushed);
  EXPECT_EQ(dto_status(hca::CompletionStatus::kLocalLength), DtoStatus::kLocalLength);
  EXPECT_EQ(dto_status(hca::CompletionStatus::kLocalProtection), DtoStatus::kLocalProtection);
  EXPECT_EQ(dto_status(hca::CompletionStatus::kRemoteAccess), DtoStatus::kRemoteAccess);
  EXPECT_EQ(dto_status(hca::CompletionStatus::kRemoteOperation), DtoStatus::kRemoteResponder);
  EXPECT_EQ(dto_status(hca::CompletionStatus::kRetryExceeded), DtoStatus::kTransport);
  EXPECT_EQ(dto_status(hca::CompletionStatus::kRnrRetryExceeded), DtoStatus::kReceiverNotReady);
  EXPECT_EQ(dto_status(hca::CompletionStatus::kBadResponse), DtoStatus::kBadResponse);
}

}  // namespace
}  // namespace softdat::object
