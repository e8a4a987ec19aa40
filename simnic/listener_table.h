// SPDX-License-Identifier: BSD-2-Clause
// The listeners of this NIC by service id. Owned by the NIC. REQUIRES of every call: the baton.
#pragma once

#include <cstdint>
#include <map>

namespace softdat::simnic {

class Listener;

class ListenerTable {
 public:
  // Throws std::bad_alloc. REQUIRES: no other listener has the id; the carrier refuses a second one.
  void add(std::uint64_t service_id, Listener& listener) { listeners_[service_id] = &listener; }
  void remove(std::uint64_t service_id) { listeners_.erase(service_id); }
  // Null if there is none.
  Listener* find(std::uint64_t service_id) const {
    const auto found = listeners_.find(service_id);
    return found == listeners_.end() ? nullptr : found->second;
  }

 private:
  std::map<std::uint64_t, Listener*> listeners_;
};

}  // namespace softdat::simnic
