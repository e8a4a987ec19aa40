// SPDX-License-Identifier: BSD-2-Clause
// One IA name under which a registry knows us, with what dat.conf said about it. Created by the
// registry's call of dat_provider_init and never destroyed: handles point at its table for as long
// as the process lives.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "libdat/api/abi.h"
#include "libdat/api/calling_registry.h"
#include "libdat/api/provider_info.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

struct RegisteredIa {
  // Fixed before others find it.
  std::string name;
  std::string instance_data;
  api::ProviderInfo info;
  api::CallingRegistry registry;
  DAT_PROVIDER table;
  RegisteredIa* older = nullptr;

  // Grows with each registration; the greatest is the newest.
  std::atomic<std::uint64_t> turn{0};

  // The registry's own form of an IA handle of ours, as consumers know it.
  DAT_IA_HANDLE consumer_handle(DAT_IA_HANDLE ia) const;
};

// Adds the IA to the registry that called. What stands in the way is logged. Any thread.
void register_ia(const api::ProviderInfo& info, const char* instance_data, const api::CallingRegistry& registry);

// Takes it out again; IAs that are open stay usable.
void unregister_ia(const api::ProviderInfo& info, const api::CallingRegistry& registry);

// The newest registration under that name, or null.
const RegisteredIa* find_registered_ia(const char* name, bool is_thread_safe);

// The registration whose table a handle starts with.
inline const RegisteredIa& registered_ia_of(const void* table) {
  return *static_cast<const RegisteredIa*>(static_cast<const DAT_PROVIDER*>(table)->extension);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
