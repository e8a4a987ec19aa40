// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault.h"

namespace softdat::simnic {
namespace {

constexpr std::uint8_t kRdmap = 0, kDdp = 1;
constexpr std::uint8_t kLocal = 0, kProtection = 1;  // RDMAP's error type
constexpr std::uint8_t kTagged = 1;                  // DDP's error type

}  // namespace

// A write is refused by DDP (RFC 5041 section 8.2, tagged buffer errors), which has no code for a missing right: that
// one is RDMAP's.
transport::TerminateCode write_refusal(AccessError fault) {
  switch (fault) {
    case AccessError::kNone:
    case AccessError::kBadKey:
      return kTaggedInvalidStag;
    case AccessError::kWrongDomain:
      return {kDdp, kTagged, 0x02};
    case AccessError::kWraps:
      return {kDdp, kTagged, 0x03};
    case AccessError::kOutOfRange:
      return kTaggedOutOfBounds;
    case AccessError::kMissingRight:
      return {kRdmap, kProtection, 0x02};
  }
  return kLocalCatastrophe;
}

// A read is refused by RDMAP (RFC 5040 section 4.8, remote protection error).
transport::TerminateCode read_refusal(AccessError fault) {
  switch (fault) {
    case AccessError::kNone:
    case AccessError::kBadKey:
      return {kRdmap, kProtection, 0x00};
    case AccessError::kOutOfRange:
      return {kRdmap, kProtection, 0x01};
    case AccessError::kMissingRight:
      return {kRdmap, kProtection, 0x02};
    case AccessError::kWrongDomain:
      return {kRdmap, kProtection, 0x03};
    case AccessError::kWraps:
      return {kRdmap, kProtection, 0x04};
  }
  return kLocalCatastrophe;
}

// The status with which a request completes that the peer refused. A local error of the peer is no request's fault: all
// are flushed.
hca::CompletionStatus status_of(const transport::TerminateCode& code) {
  if (code.layer == kRdmap && code.type == kLocal) return hca::CompletionStatus::kFlushed;
  if (code.layer == kRdmap && code.type == kProtection) return hca::CompletionStatus::kRemoteAccess;
  if (code.layer == kRdmap) return hca::CompletionStatus::kRemoteOperation;
  if (code.layer == kDdp && code.type == kTagged) return hca::CompletionStatus::kRemoteAccess;
  if (code == kNoBuffer) return hca::CompletionStatus::kRnrRetryExceeded;
  if (code.layer == kDdp) return hca::CompletionStatus::kRemoteOperation;
  return hca::CompletionStatus::kBadResponse;
}

bool concerns_read(const transport::TerminateCode& code) {
  return code.layer == kRdmap && code != kCannotInvalidate;
}

// The answer to a post. A range that wraps counts as out of range there.
hca::Error error_of(AccessError fault) {
  switch (fault) {
    case AccessError::kNone:
    case AccessError::kBadKey:
      return hca::Error::kBadKey;
    case AccessError::kWrongDomain:
      return hca::Error::kWrongDomain;
    case AccessError::kWraps:
    case AccessError::kOutOfRange:
      return hca::Error::kOutOfRange;
    case AccessError::kMissingRight:
      return hca::Error::kMissingRight;
  }
  return hca::Error::kPermission;
}

}  // namespace softdat::simnic
