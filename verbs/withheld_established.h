// SPDX-License-Identifier: BSD-2-Clause
// The connections of a device that stand and of which the consumer has not been told yet (see Traits), in the order in
// which they came about: the end of another is told after those that came before it. Programs count on that order; one
// that awaits as many beginnings as it has peers would take an end for a beginning.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <mutex>

#include "base/assert.h"
#include "verbs/lock_places.h"

namespace softdat::verbs {

class Beginning : public boost::intrusive::list_base_hook<> {
  friend class WithheldEstablished;
  std::uint64_t number_ = 0;
};

// Any thread. Takes no memory.
class WithheldEstablished {
 public:
  // Requires that it is not among them.
  void add(Beginning& beginning) {
    const std::lock_guard lock(mutex_);
    base::check(!beginning.is_linked(), "a connection is withheld once", beginning.number_, last_);
    beginning.number_ = ++last_;
    held_.push_back(beginning);
  }
  // If it is among them.
  void remove(Beginning& beginning) {
    const std::lock_guard lock(mutex_);
    if (beginning.is_linked()) held_.erase(held_.iterator_to(beginning));
  }

  // The number of the one that came last.
  std::uint64_t last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  // Whether one of those up to that number is still among them.
  bool has_any_until(std::uint64_t number) const {
    const std::lock_guard lock(mutex_);
    return !held_.empty() && held_.front().number_ <= number;
  }

 private:
  mutable base::Mutex<locks::kWithheldEstablished> mutex_;
  // Guarded by mutex_.
  boost::intrusive::list<Beginning> held_;
  std::uint64_t last_ = 0;
};

}  // namespace softdat::verbs
