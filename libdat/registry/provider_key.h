// SPDX-License-Identifier: BSD-2-Clause
// What names a provider in both registries: the IA name and the API it offers under that name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace softdat::registry {

// The same where it lies: to find one takes no memory.
struct ProviderKeyView {
  std::string_view ia_name;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  bool is_thread_safe = false;

  bool operator==(const ProviderKeyView&) const = default;
};

struct ProviderKey {
  std::string ia_name;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  bool is_thread_safe = false;

  operator ProviderKeyView() const { return {ia_name, major, minor, is_thread_safe}; }
  bool operator==(const ProviderKey&) const = default;
};

// An entry of a newer minor version may serve a consumer of an older one; everything else must be
// equal (dat_registry_list_providers).
inline bool can_serve(const ProviderKey& entry, const ProviderKey& wanted) {
  return entry.ia_name == wanted.ia_name && entry.major == wanted.major &&
         entry.is_thread_safe == wanted.is_thread_safe && entry.minor >= wanted.minor;
}

// "sim0 2.0 nonthreadsafe", for messages.
inline std::string describe(const ProviderKey& key) {
  return key.ia_name + " " + std::to_string(key.major) + "." + std::to_string(key.minor) +
         (key.is_thread_safe ? " threadsafe" : " nonthreadsafe");
}

}  // namespace softdat::registry
