// SPDX-License-Identifier: BSD-2-Clause
// Refusals that name the adapter's limit: what was asked for, what is allowed, and which attribute tells it.
#pragma once

#include <cstdint>
#include <string>

#include "hca/result.h"
#include "hca/types.h"
#include "libdat/object/status.h"

namespace softdat::object {

// "max_recv_dtos is 20000, and the adapter, as connectx-5, takes 0 to 16351 (max_dto_per_ep of dat_ia_query)".
struct CountLimit {
  const char* name;  // of what was asked for
  std::int64_t asked;
  std::uint64_t most;
  const char* attribute;  // of DAT_IA_ATTR; null: none tells it
  std::int64_t least = 0;
};

// Answers `status`, with that reason.
Status beyond_limit(Status status, const hca::DeviceAttributes& device, const CountLimit& limit);

// What a creation makes, for the reason of a failure.
struct Creation {
  const char* objects;  // "endpoints"
  std::uint64_t most;   // at a time
  const char* attribute;
};

// The status of creation_failure(), with the reason if the device has no more of them, or none.
Status failed_creation(hca::Error error, StatusDetail resource, StatusDetail argument,
                       const hca::DeviceAttributes& device, const Creation& creation);

// DAT_MODEL_NOT_SUPPORTED: the device has no `what`.
Status not_offered(const hca::DeviceAttributes& device, const std::string& what);

}  // namespace softdat::object
