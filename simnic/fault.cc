// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/fault.h"

namespace softdat::simnic {
namespace {

constexpr std::uint8_t kRdmap = 0, kDdp = 1;
constexpr std::uint8_t kLocal = 0, kProtection = 1;  // RDMAP's error type
constexpr std::uint8_t kTagged = 1;                  // DDP's error type

}  // namespace

transport::TerminateCode write_refusal(KeyFault fault) {
  switch (fault) {
    case KeyFault::kNone:
    case KeyFault::kBadKey:
      return kTaggedInvalidStag;
    case KeyFault::kWrongDomain:
      return {kDdp, kTagged, 0x02};
    case KeyFault::kWraps:
      return {kDdp, kTagged, 0x03};
    case KeyFault::kOutOfRange:
      return kTaggedOutOfBounds;
    case KeyFault::kMissingRight:
      return {kRdmap, kProtection, 0x02};
  }
  return kLocalCatastrophe;
}

transport::TerminateCode read_refusal(KeyFault fault) {
  switch (fault) {
    case KeyFault::kNone:
    case KeyFault::kBadKey:
      return {kRdmap, kProtection, 0x00};
    case KeyFault::kOutOfRange:
      return {kRdmap, kProtection, 0x01};
    case KeyFault::kMissingRight:
      return {kRdmap, kProtection, 0x02};
    case KeyFault::kWrongDomain:
      return {kRdmap, kProtection, 0x03};
    case KeyFault::kWraps:
      return {kRdmap, kProtection, 0x04};
  }
  return kLocalCatastrophe;
}

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

hca::Error error_of(KeyFault fault) {
  switch (fault) {
    case KeyFault::kNone:
    case KeyFault::kBadKey:
      return hca::Error::kBadKey;
    case KeyFault::kWrongDomain:
      return hca::Error::kWrongDomain;
    case KeyFault::kWraps:
    case KeyFault::kOutOfRange:
      return hca::Error::kOutOfRange;
    case KeyFault::kMissingRight:
      return hca::Error::kMissingRight;
  }
  return hca::Error::kPermission;
}

}  // namespace softdat::simnic
