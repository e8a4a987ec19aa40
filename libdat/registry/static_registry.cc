// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/registry/static_registry.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/assert.h"

namespace softdat::registry {
namespace {

constexpr unsigned kSimulatorNames = 16;
constexpr std::string_view kSimulatorPrefix = "sim";

// sim0 ... sim15, written without leading zeros.
bool is_simulator_name(std::string_view name) {
  if (!name.starts_with(kSimulatorPrefix)) return false;
  name.remove_prefix(kSimulatorPrefix.size());
  if (name.empty() || (name.size() > 1 && name[0] == '0')) return false;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() && number < kSimulatorNames;
}

// "verbs:rxe0": the provider itself knows, or says why not.
bool is_verbs_name(std::string_view name) {
  constexpr std::string_view kVerbsPrefix = "verbs:";
  return name.starts_with(kVerbsPrefix) && name.size() > kVerbsPrefix.size();
}

ProviderKey key_of(const ConfEntry& entry) {
  return {entry.ia_name, entry.major, entry.minor, entry.is_thread_safe};
}

bool is_simulator(const std::string& library_path) {
  return library_path.substr(library_path.rfind('/') + 1) == kSimulatorLibrary;
}

}  // namespace

StaticRegistry::StaticRegistry(const Options& options, const ConfFile& file) : options_(options) {
  for (const ConfEntry& entry : file.entries) {
    if (is_served(entry)) add(entry);
  }
  make_listing(file);
}

bool StaticRegistry::is_served(const ConfEntry& entry) const {
  if (entry.is_kernel || !entry.is_default) return false;
  // SOFTDAT_ANY_IA=1 takes all names of a system-wide dat.conf away from other providers; a file that DAT_OVERRIDE
  // names is obeyed.
  return options_.is_file_chosen || !options_.is_any_name_ours || is_simulator(entry.library_path);
}

void StaticRegistry::add(const ConfEntry& entry) {
  const ProviderKey key = key_of(entry);
  const Alternative alternative{entry.library_path, entry.instance_data};
  const auto same = [&](const Slot& slot) { return slot.key == key; };
  const auto known = std::find_if(slots_.begin(), slots_.end(), same);
  if (known != slots_.end()) {
    // Lines with one key are alternatives, and are tried in the order of the file.
    known->alternatives.push_back(alternative);
    return;
  }
  Slot& slot = slots_.emplace_back();
  slot.key = key;
  slot.alternatives.push_back(alternative);
}

void StaticRegistry::make_listing(const ConfFile& file) {
  if (!options_.is_file_chosen && !has_name("sim0")) {
    listing_.push_back({"sim0", options_.api_major, options_.api_minor, false});
  }
  // Entries of this library's API come first.
  for (const bool is_own_turn : {true, false}) {
    for (const ConfEntry& entry : file.entries) {
      const bool is_own = entry.major == options_.api_major;
      if (is_served(entry) && is_own == is_own_turn) listing_.push_back(key_of(entry));
    }
  }
}

bool StaticRegistry::has_name(const std::string& ia_name) const {
  return std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) { return slot.key.ia_name == ia_name; });
}

// These names need no dat.conf.
bool StaticRegistry::is_built_in(const ProviderKey& wanted) const {
  if (wanted.major != options_.api_major || wanted.minor > options_.api_minor) return false;
  return options_.is_any_name_ours || is_simulator_name(wanted.ia_name) || is_verbs_name(wanted.ia_name);
}

Slot* StaticRegistry::find(const ProviderKey& wanted) {
  Slot* best = nullptr;
  for (Slot& slot : slots_) {
    if (!can_serve(slot.key, wanted)) continue;
    if (best == nullptr || slot.key.minor < best->key.minor) best = &slot;
  }
  SOFTDAT_DEBUG_CHECK(best == nullptr || !best->alternatives.empty(), "a slot has a library to load");
  if (best != nullptr || !is_built_in(wanted)) return best;
  Slot& slot = slots_.emplace_back();
  slot.key = wanted;
  slot.alternatives.push_back({kSimulatorLibrary, ""});
  return &slot;
}

}  // namespace softdat::registry
