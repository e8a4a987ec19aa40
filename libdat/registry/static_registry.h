// SPDX-License-Identifier: BSD-2-Clause
// The static registry: which library serves which IA name, as dat.conf and the built-in default
// say. Filled once, at first use; knows nothing of what is loaded. Not synchronised: the Registry
// that owns it holds its lock.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libdat/registry/conf_file.h"
#include "libdat/registry/provider_key.h"
#include "libdat/registry/provider_library.h"

namespace softdat::registry {

// One library that may serve a key, and the text it is given.
struct Alternative {
  std::string library_path;
  std::string instance_data;
  bool has_complained = false;  // its failure to load has been told; once is enough
};

// Everything the static registry knows under one key, and what of it is loaded.
struct Slot {
  enum class State { kUnloaded, kLoading, kLoaded, kUnloading };

  ProviderKey key;
  std::vector<Alternative> alternatives;  // tried in this order until one loads
  State state = State::kUnloaded;
  std::thread::id mover;      // who loads or unloads; meaningless in the other two states
  bool is_in_loader = false;  // `mover` is in dlopen() or dlclose()
  unsigned users = 0;         // leases; the library is unloaded when the last one ends
  std::shared_ptr<ProviderLibrary> library;
};

class StaticRegistry {
 public:
  struct Options {
    std::uint32_t api_major = 0;  // the API this registry speaks
    std::uint32_t api_minor = 0;
    bool is_any_name_ours = false;  // SOFTDAT_ANY_IA=1
    bool is_file_chosen = false;    // DAT_OVERRIDE named the file; otherwise it is the system's
  };

  // If every name is to be ours, the system's file counts only as far as it agrees: distributions
  // ship one full of names for hardware that is not there. A chosen file always counts.
  StaticRegistry(const Options& options, const ConfFile& file);

  // The slot that serves `wanted`: the exact key, or the smallest newer minor version, or the
  // built-in simulator if the name is one of its own (sim0 ... sim15) or every name is. Null when
  // there is none. Slots never move and are never removed.
  Slot* find(const ProviderKey& wanted);

  // True when some entry has this name in any version: the name is known, only not in the version
  // asked for.
  bool has_name(const std::string& ia_name) const;

  std::deque<Slot>& slots() { return slots_; }

  // What a consumer is shown: sim0 first, unless the file was chosen or has an entry of that name;
  // then the file's entries, those of this registry's API before the others.
  const std::vector<ProviderKey>& listing() const { return listing_; }

 private:
  void add(const ConfEntry& entry);
  bool is_served(const ConfEntry& entry) const;
  void make_listing(const ConfFile& file);
  bool is_built_in(const ProviderKey& wanted) const;

  const Options options_;
  std::deque<Slot> slots_;  // a deque, so that pointers to slots stay valid
  std::vector<ProviderKey> listing_;
};

}  // namespace softdat::registry
