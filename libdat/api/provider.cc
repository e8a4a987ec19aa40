// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/provider.h"

#include <cstring>
#include <new>

#include "base/log.h"
#include "libdat/api/calling_registry.h"
#include "libdat/object/handle_table.h"

namespace softdat {

using api::CallingRegistry;
using api::ProviderInfo;

// registered_ia.h of either API, which no source compiled once can include.
namespace abi12 {
void register_ia(const ProviderInfo& info, const char* instance_data, const CallingRegistry& registry);
void unregister_ia(const ProviderInfo& info, const CallingRegistry& registry);
}  // namespace abi12
namespace abi20 {
void register_ia(const ProviderInfo& info, const char* instance_data, const CallingRegistry& registry);
void unregister_ia(const ProviderInfo& info, const CallingRegistry& registry);
}  // namespace abi20

namespace {

constexpr std::uint32_t kMajor12 = 1;
constexpr std::uint32_t kMajor20 = 2;

bool is_usable(const ProviderInfo* info) {
  return info != nullptr && std::memchr(info->ia_name, '\0', sizeof(info->ia_name)) != nullptr;
}

void init(const ProviderInfo& info, const char* instance_data, const CallingRegistry& registry) {
  if (registry.add_provider == nullptr)
    base::log(base::LogLevel::kError, "no DAT registry in this process to add the IA \"%s\" to", info.ia_name);
  else if (info.major == kMajor20)
    abi20::register_ia(info, instance_data, registry);
  else if (info.major == kMajor12)
    abi12::register_ia(info, instance_data, registry);
  else
    base::log(base::LogLevel::kError, "the IA \"%s\" is wanted for DAT %u.%u; there are 1.2 and 2.0 only", info.ia_name,
              info.major, info.minor);
}

void fini(const ProviderInfo& info, const CallingRegistry& registry) {
  if (info.major == kMajor20) abi20::unregister_ia(info, registry);
  if (info.major == kMajor12) abi12::unregister_ia(info, registry);
}

}  // namespace
}  // namespace softdat

#define SOFTDAT_EXPORT [[gnu::visibility("default")]]

[[gnu::constructor(101)]] static void leave_forks_to_registry() {
  softdat::base::postpone_forks();
}

SOFTDAT_EXPORT void dat_provider_init(const softdat::api::ProviderInfo* info, const char* instance_data) {
  softdat::base::follow_forks();  // where the registry has not called softdat_fork_handlers()
  // The return address lies in the registry that loads us. A process may have two, and the IA belongs to that one.
  const auto registry = softdat::api::find_calling_registry(__builtin_return_address(0));
  if (!softdat::is_usable(info)) return;
  try {
    softdat::init(*info, instance_data == nullptr ? "" : instance_data, registry);
  } catch (const std::bad_alloc&) {
    softdat::base::log(softdat::base::LogLevel::kError, "no memory to add the IA \"%s\"", info->ia_name);
  }
}

SOFTDAT_EXPORT void dat_provider_fini(const softdat::api::ProviderInfo* info) {
  const auto registry = softdat::api::find_calling_registry(__builtin_return_address(0));
  if (softdat::is_usable(info)) softdat::fini(*info, registry);
}

SOFTDAT_EXPORT const softdat::base::HandleRange* softdat_handle_range() {
  return &softdat::object::HandleTable::instance().range();
}

SOFTDAT_EXPORT const softdat::base::ForkHandlers* softdat_fork_handlers() {
  return &softdat::base::lend_forks();
}
