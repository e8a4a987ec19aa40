// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/registered_ia.h"

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/assert.h"
#include "base/lock_order.h"
#include "base/log.h"
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

// All of them, the last one made first: a list without a lock, so that a child made by fork() can go on with it.
// Entries are made ready, then put there (release), and never destroyed. Programs call DAT from atexit handlers.
constinit std::atomic<RegisteredIa*> g_ias{nullptr};
constinit std::atomic<std::uint64_t> g_turns{0};

const DAT_PROVIDER_INFO* as_dat(const ProviderInfo& info) {
  return reinterpret_cast<const DAT_PROVIDER_INFO*>(&info);
}

bool is_same_key(const ProviderInfo& a, const ProviderInfo& b) {
  return std::string_view(a.ia_name) == b.ia_name && a.major == b.major && a.minor == b.minor &&
         a.is_thread_safe == b.is_thread_safe;
}

RegisteredIa* find_newest(auto&& matches) {
  RegisteredIa* newest = nullptr;
  const auto turn_of = [](const RegisteredIa* ia) { return ia->turn.load(std::memory_order_relaxed); };
  for (RegisteredIa* ia = g_ias.load(std::memory_order_acquire); ia != nullptr; ia = ia->older)
    if (matches(*ia) && (newest == nullptr || turn_of(ia) > turn_of(newest))) newest = ia;
  return newest;
}

RegisteredIa* create_registered_ia(const ProviderInfo& info, const char* instance_data,
                                   const CallingRegistry& registry) {
  auto ia = std::make_unique<RegisteredIa>();
  ia->name = info.ia_name;
  ia->instance_data = instance_data;
  ia->info = info;
  ia->registry = registry;
  ia->table = provider_table(ia->name.c_str(), ia.get(), info.is_thread_safe != DAT_FALSE);
  // Handles of this IA lead to the table, and by it to the IA.
  SOFTDAT_DEBUG_CHECK(ia->table.extension == ia.get(), "a table names the IA that it was made for");
  ia->older = g_ias.load(std::memory_order_relaxed);
  while (!g_ias.compare_exchange_weak(ia->older, ia.get(), std::memory_order_acq_rel, std::memory_order_relaxed))
    continue;
  return ia.release();
}

// A program that opens and closes an IA registers it every time: the same entry serves again, as the newest. Two
// threads that register the same IA at once may make two entries; either one serves.
RegisteredIa* find_or_create(const ProviderInfo& info, const char* instance_data, const CallingRegistry& registry) {
  RegisteredIa* ia = find_newest([&](const RegisteredIa& known) {
    return is_same_key(known.info, info) && known.instance_data == instance_data && known.registry == registry;
  });
  if (ia == nullptr) ia = create_registered_ia(info, instance_data, registry);
  ia->turn.store(g_turns.fetch_add(1, std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return ia;
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
  // The registry takes its own lock, and calls us while it holds that.
  base::require_no_lock();
  const auto add = reinterpret_cast<AddOrRemove>(registry.add_provider);
  const DAT_RETURN answer = add(&ia->table, as_dat(ia->info));
  if (answer != DAT_SUCCESS)
    base::log(base::LogLevel::kError, "the DAT registry refused the IA \"%s\": 0x%08x", info.ia_name, answer);
}

void unregister_ia(const ProviderInfo& info, const CallingRegistry& registry) {
  const RegisteredIa* ia =
      find_newest([&](const RegisteredIa& each) { return is_same_key(each.info, info) && each.registry == registry; });
  // The entry stays in the list, because a handle of the IA may still lead to its table.
  if (ia == nullptr || registry.remove_provider == nullptr) return;
  const auto remove = reinterpret_cast<AddOrRemove>(registry.remove_provider);
  const DAT_RETURN answer = remove(&ia->table, as_dat(ia->info));
  if (answer != DAT_SUCCESS)
    base::log(base::LogLevel::kWarning, "the DAT registry keeps the IA \"%s\": 0x%08x", info.ia_name, answer);
}

const RegisteredIa* find_registered_ia(const char* name, bool is_thread_safe) {
  return find_newest([&](const RegisteredIa& ia) {
    return ia.name == name && (ia.info.is_thread_safe != DAT_FALSE) == is_thread_safe;
  });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
