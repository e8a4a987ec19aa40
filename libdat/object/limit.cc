// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/limit.h"

#include "base/assert.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/refusal.h"

namespace softdat::object {
namespace {

// "the adapter", or "the adapter, as siw,".
std::string adapter_text(const hca::DeviceAttributes& device) {
  return device.profile.empty() ? "the adapter" : "the adapter, as " + device.profile + ',';
}

std::string source_text(const char* attribute) {
  if (attribute == nullptr) return " (no attribute of dat_ia_query tells it)";
  return std::string(" (") + attribute + " of dat_ia_query)";
}

}  // namespace

Status beyond_limit(Status status, const hca::DeviceAttributes& device, const CountLimit& limit) {
  SOFTDAT_DEBUG_CHECK(limit.asked < limit.least || static_cast<std::uint64_t>(limit.asked) > limit.most,
                      "what is refused for a limit is beyond it", static_cast<std::uint64_t>(limit.asked), limit.most);
  return because(status, [&] {
    return std::string(limit.name) + " is " + std::to_string(limit.asked) + ", and " + adapter_text(device) +
           " takes " + std::to_string(limit.least) + " to " + std::to_string(limit.most) + source_text(limit.attribute);
  });
}

// A limit is told with its number. Other errors have the words of creation_failure().
Status failed_creation(hca::Error error, StatusDetail resource, StatusDetail argument,
                       const hca::DeviceAttributes& device, const Creation& creation) {
  if (error == hca::Error::kUnsupported) return not_offered(device, creation.objects);
  const Status status = creation_failure(error, resource, argument);
  if (error != hca::Error::kLimitReached) return status;
  return because(status, [&] {
    return adapter_text(device) + " has room for no more " + creation.objects + ", of which it takes " +
           std::to_string(creation.most) + " at a time" + source_text(creation.attribute);
  });
}

Status not_offered(const hca::DeviceAttributes& device, const std::string& what) {
  return because(model_not_supported(), [&] { return adapter_text(device) + " has no " + what; });
}

}  // namespace softdat::object
