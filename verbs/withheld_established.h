// SPDX-License-Identifier: BSD-2-Clause
// WithheldEstablished: the connections of a device that are established while their consumers do not know it yet
// (WithheldEvent). DISCONNECTED of another connection must not overtake the ESTABLISHED of those that came before it:
// a program that awaits as many ESTABLISHED as it has peers would count it as one of them.
//
// Threads: any. Never allocates. Entries belong to the caller, and must be removed before they go.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <mutex>

#include "base/assert.h"
#include "verbs/lock_places.h"

namespace softdat::verbs {

class WithheldEntry : public boost::intrusive::list_base_hook<> {
  friend class WithheldEstablished;
  std::uint64_t number_ = 0;
};

class WithheldEstablished {
 public:
  // REQUIRES: it is not among them.
  void add(WithheldEntry& entry) {
    const std::lock_guard lock(mutex_);
    base::check(!entry.is_linked(), "a connection is withheld once", entry.number_, last_);
    entry.number_ = ++last_;
    entries_.push_back(entry);
  }
  // If it is among them.
  void remove(WithheldEntry& entry) {
    const std::lock_guard lock(mutex_);
    if (entry.is_linked()) entries_.erase(entries_.iterator_to(entry));
  }

  // The number of the entry that was added last. Numbers grow.
  std::uint64_t last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  // Whether an entry with that number or a smaller one is still among them.
  bool has_any_until(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    return !entries_.empty() && entries_.front().number_ <= number;
  }

 private:
  mutable base::Mutex<locks::kWithheldEstablished> mutex_;
  // Guarded by mutex_.
  boost::intrusive::list<WithheldEntry> entries_;
  std::uint64_t last_ = 0;
};

}  // namespace softdat::verbs
