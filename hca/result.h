// SPDX-License-Identifier: BSD-2-Clause
// Why a call on the port failed.
#pragma once

#include "base/result.h"

namespace softdat::hca {

enum class Error {
  kNoMemory,         // memory or descriptors of the machine are exhausted
  kLimitReached,     // the device's own limit (its attributes tell it)
  kInvalidArgument,  // a value the device can never take
  kInvalidState,     // the object's present state forbids it
  kUnsupported,      // the device has no such thing
  kAddressInUse,     // a service id that another listener holds
  kBadAddress,       // a remote address known to be unusable
  kNoDevice,         // no such backend or device; the cause has been logged
  kPermission,       // a key's rights, range or protection domain forbid it, not said which
  kBadKey,           // kPermission in particular: the key names no region (any more)
  kOutOfRange,       // kPermission in particular: the segment leaves its region
  kWrongDomain,      // kPermission in particular: the region belongs to another protection domain
  kMissingRight,     // kPermission in particular: the region lacks the right
};

template <typename T>
using Result = base::Result<T, Error>;

// The result of a call that has no value: success is a Done.
struct Done {};
using Outcome = Result<Done>;

inline base::Failure<Error> fail(Error error) {
  return {error};
}

}  // namespace softdat::hca
