// SPDX-License-Identifier: BSD-2-Clause
// Who of this NIC listens on which service id. Owned by the NIC; with the baton.
#pragma once

#include <cstdint>
#include <map>

namespace softdat::simnic {

class Listener;

class ListenerTable {
 public:
  // Throws std::bad_alloc. The carrier has seen to it that nobody else listens on that id.
  void add(std::uint64_t service_id, Listener& listener) { listeners_[service_id] = &listener; }
  void remove(std::uint64_t service_id) { listeners_.erase(service_id); }
  // Null when nobody does.
  Listener* find(std::uint64_t service_id) const {
    const auto found = listeners_.find(service_id);
    return found == listeners_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::uint64_t, Listener*> listeners_;
};

}  // namespace softdat::simnic
