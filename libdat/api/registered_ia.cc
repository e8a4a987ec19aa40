// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/registered_ia.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/guarded.h"
#include "base/log.h"
#include "libdat/api/lock_places.h"
#include "libdat/api/provider_table.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using api::CallingRegistry;
using api::ProviderInfo;

static_assert(sizeof(ProviderInfo) == sizeof(DAT_PROVIDER_INFO));
static_assert(offsetof(ProviderInfo, major) == offsetof(DAT_PROVIDER_INFO, dapl_version_major));
static_assert(offsetof(ProviderInfo, minor) == offsetof(DAT_PROVIDER_INFO, dapl_version_minor));
static_assert(offsetof(ProviderInfo, is_thread_safe) == offsetof(DAT_PROVIDER_INFO, is_thread_safe));

using AddOrRemove = DAT_RETURN (*)(const DAT_PROVIDER*, const DAT_PROVIDER_INFO*);
using GetIaHandle = DAT_RETURN (*)(DAT_IA_HANDLE, DAT_IA_HANDLE*);
using RegisteredIas = std::vector<std::unique_ptr<RegisteredIa>>;

// Never destroyed: programs call DAT from atexit handlers.
base::Guarded<RegisteredIas, locks::kRegisteredIas>& registered_ias() {
  static auto& all = *new base::Guarded<RegisteredIas, locks::kRegisteredIas>;
  return all;
}

const DAT_PROVIDER_INFO* as_dat(const ProviderInfo& info) {
  return reinterpret_cast<const DAT_PROVIDER_INFO*>(&info);
}

bool is_same_key(const ProviderInfo& a, const ProviderInfo& b) {
  return std::string_view(a.ia_name) == b.ia_name && a.major == b.major && a.minor == b.minor &&
         a.is_thread_safe == b.is_thread_safe;
}

RegisteredIa* find_newest(const RegisteredIas& ias, auto&& matches) {
  for (auto ia = ias.rbegin(); ia != ias.rend(); ++ia)
    if (matches(**ia)) return ia->get();
  return nullptr;
}

RegisteredIa* create_registered_ia(RegisteredIas& ias, const ProviderInfo& info, const char* instance_data,
                                   const CallingRegistry& registry) {
  auto ia = std::make_unique<RegisteredIa>();
  ia->name = info.ia_name;
  ia->instance_data = instance_data;
  ia->info = info;
  ia->registry = registry;
  ia->table = provider_table(ia->name.c_str(), ia.get(), info.is_thread_safe != DAT_FALSE);
  // Handles of this IA lead to the table, and by it to the IA.
  SOFTDAT_DEBUG_CHECK(ia->table.extension == ia.get(), "a table names the IA that it was made for");
  return ias.emplace_back(std::move(ia)).get();
}

// A program that opens and closes an IA registers it every time: the same entry serves again, as
// the newest.
RegisteredIa* find_or_create(const ProviderInfo& info, const char* instance_data, const CallingRegistry& registry) {
  auto ias = registered_ias().lock();
  const auto known = std::find_if(ias->begin(), ias->end(), [&](const auto& ia) {
    return is_same_key(ia->info, info) && ia->instance_data == instance_data && ia->registry == registry;
  });
  if (known == ias->end()) return create_registered_ia(*ias, info, instance_data, registry);
  std::rotate(known, known + 1, ias->end());
  return ias->back().get();
}

}  // namespace

// DAT 2.0 registries give consumers an integer. Without the function the consumer has our handle.
DAT_IA_HANDLE RegisteredIa::consumer_handle(DAT_IA_HANDLE ia) const {
  DAT_IA_HANDLE known = nullptr;
  const auto get_ia_handle = reinterpret_cast<GetIaHandle>(registry.get_ia_handle);
  if (!kIsAbi20 || get_ia_handle == nullptr) return ia;
  return get_ia_handle(ia, &known) == DAT_SUCCESS && known != nullptr ? known : ia;
}

void register_ia(const ProviderInfo& info, const char* instance_data, const CallingRegistry& registry) {
  const RegisteredIa* ia = find_or_create(info, instance_data, registry);
  base::require_no_lock();
  // Not under our lock: the registry takes its own, and calls us while it holds that.
  const auto add = reinterpret_cast<AddOrRemove>(registry.add_provider);
  const DAT_RETURN answer = add(&ia->table, as_dat(ia->info));
  if (answer != DAT_SUCCESS)
    base::log(base::LogLevel::kError, "the DAT registry refused the IA \"%s\": 0x%08x", info.ia_name, answer);
}

void unregister_ia(const ProviderInfo& info, const CallingRegistry& registry) {
  const RegisteredIa* ia = nullptr;
  {
    auto ias = registered_ias().lock();
    ia = find_newest(
        *ias, [&](const RegisteredIa& each) { return is_same_key(each.info, info) && each.registry == registry; });
  }
  // The entry stays in the list, because a handle of the IA may still lead to its table.
  if (ia == nullptr || registry.remove_provider == nullptr) return;
  const auto remove = reinterpret_cast<AddOrRemove>(registry.remove_provider);
  const DAT_RETURN answer = remove(&ia->table, as_dat(ia->info));
  if (answer != DAT_SUCCESS)
    base::log(base::LogLevel::kWarning, "the DAT registry keeps the IA \"%s\": 0x%08x", info.ia_name, answer);
}

const RegisteredIa* find_registered_ia(const char* name, bool is_thread_safe) {
  auto ias = registered_ias().lock();
  return find_newest(*ias, [&](const RegisteredIa& ia) {
    return ia.name == name && (ia.info.is_thread_safe != DAT_FALSE) == is_thread_safe;
  });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
