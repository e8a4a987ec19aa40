// SPDX-License-Identifier: BSD-2-Clause
// The registry's own functions: providers declaring themselves, consumers listing them.
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "libdat/registry/entry/process.h"
#include "libdat/registry/entry/status.h"
#include "libdat/registry/self_memory.h"

namespace softdat::registry {
namespace {

// Copies what is there to `info`, in which the key then lies.
std::optional<ProviderKeyView> read_key(const DAT_PROVIDER_INFO* address, DAT_PROVIDER_INFO& info) {
  if (!read_self(address, &info, sizeof info)) return std::nullopt;
  const void* end = std::memchr(info.ia_name, '\0', sizeof info.ia_name);
  if (end == nullptr) return std::nullopt;
  return ProviderKeyView{info.ia_name, info.dapl_version_major, info.dapl_version_minor,
                         info.is_thread_safe != DAT_FALSE};
}

bool is_table(const DAT_PROVIDER* address) {
  DAT_PROVIDER table;
  return read_self(address, &table, sizeof table);
}

void write_info(const ProviderKey& key, DAT_PROVIDER_INFO& info) {
  info = DAT_PROVIDER_INFO{};
  std::memcpy(info.ia_name, key.ia_name.data(), key.ia_name.size());
  info.dapl_version_major = key.major;
  info.dapl_version_minor = key.minor;
  info.is_thread_safe = key.is_thread_safe ? DAT_TRUE : DAT_FALSE;
}

using Declare = DAT_RETURN (*)(const void* provider, const void* info);

// A provider library that serves both APIs binds these functions by name alone and reaches
// whichever registry the process loaded first. Its declaration says which one it meant.
Declare find_other_registry(const ProviderKeyView& key, const char* function) {
  if (key.major != kOtherApiMajor) return nullptr;
  return reinterpret_cast<Declare>(::dlvsym(RTLD_DEFAULT, function, kOtherVersionNode));
}

DAT_RETURN add_provider(const DAT_PROVIDER* provider, const DAT_PROVIDER_INFO* info) {
  if (!is_table(provider)) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
  DAT_PROVIDER_INFO copy;
  const auto key = read_key(info, copy);
  if (!key) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  if (const Declare other = find_other_registry(*key, "dat_registry_add_provider")) {
    return other(provider, info);
  }
  const ProviderKey own{std::string(key->ia_name), key->major, key->minor, key->is_thread_safe};
  if (process_registry().add(own, provider) == AddResult::kAdded) return DAT_SUCCESS;
  return refuse(DAT_PROVIDER_ALREADY_REGISTERED);
}

DAT_RETURN remove_provider(const DAT_PROVIDER* provider, const DAT_PROVIDER_INFO* info) {
  if (!is_table(provider)) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
  DAT_PROVIDER_INFO copy;
  const auto key = read_key(info, copy);
  if (!key) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  if (const Declare other = find_other_registry(*key, "dat_registry_remove_provider")) {
    return other(provider, info);
  }
  switch (process_registry().remove(*key)) {
    case RemoveResult::kRemoved:
      return DAT_SUCCESS;
    case RemoveResult::kInUse:
      return refuse(DAT_PROVIDER_IN_USE);
    case RemoveResult::kNotFound:
      break;
  }
  return refuse(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
}

DAT_RETURN list_providers(DAT_COUNT most, DAT_COUNT* count, DAT_PROVIDER_INFO* list[]) {
  if (count == nullptr) return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
  const std::vector<ProviderKey> keys = process_registry().list();
  const auto available = static_cast<DAT_COUNT>(keys.size());
  if (most <= 0) {
    *count = available;
    return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
  }
  const DAT_COUNT shown = std::min(most, available);
  if (list == nullptr || std::find(list, list + shown, nullptr) != list + shown) {
    *count = available;
    return refuse(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
  }
  for (DAT_COUNT i = 0; i < shown; ++i) write_info(keys[static_cast<std::size_t>(i)], *list[i]);
  // dat_registry_list_providers(3DAT): how many entries were written.
  *count = shown;
  return DAT_SUCCESS;
}

}  // namespace
}  // namespace softdat::registry

using namespace softdat::registry;

extern "C" {

DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER* provider, const DAT_PROVIDER_INFO* provider_info) {
  return answer_with([&] { return add_provider(provider, provider_info); });
}

DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER* provider, const DAT_PROVIDER_INFO* provider_info) {
  return answer_with([&] { return remove_provider(provider, provider_info); });
}

DAT_RETURN dat_registry_list_providers(DAT_COUNT max_to_return, DAT_COUNT* entries_returned,
                                       DAT_PROVIDER_INFO* dat_provider_list[]) {
  return answer_with([&] { return list_providers(max_to_return, entries_returned, dat_provider_list); });
}

}  // extern "C"
