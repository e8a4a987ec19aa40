// SPDX-License-Identifier: BSD-2-Clause
// NastyHints: what a CNO tells in nasty mode (docs/NASTY.md). DAT calls the EVD that a wait returns a hint, and has the
// consumer poll all of them; so a hint may name another EVD of the CNO, and a trigger may come twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "base/mix.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/lock_places.h"

namespace softdat::object {

// Guarded by the CNO's lock. What it does is a function of the seed, the CNO's number and the number of the trigger.
class NastyHints {
 public:
  NastyHints(std::uint64_t seed, std::uint64_t number) : state_(base::mix(base::mix(seed) ^ number)) {}

  // An EVD refers to the CNO, or does not any more. Without memory for it the EVD is never named in place of another.
  void add(Handle evd) try {
    base::require_lock(locks::kConsumerNotification);
    evds_.push_back(evd);
  } catch (const std::bad_alloc&) {
    return;
  }
  void remove(Handle evd) {
    base::require_lock(locks::kConsumerNotification);
    const auto found = std::find(evds_.begin(), evds_.end(), evd);
    if (found != evds_.end()) evds_.erase(found);
  }

  // The hint for a trigger of `evd`: an EVD of the CNO. Draws anew, and decides whether the trigger comes twice.
  Handle misname(Handle evd) {
    base::require_lock(locks::kConsumerNotification);
    drawn_ = base::mix(state_ ^ ++triggers_);
    is_echo_due_ = drawn_ % 4 == 0;
    const bool is_lie = (drawn_ >> 8) % 2 == 0 && !evds_.empty();
    return is_lie ? evds_[(drawn_ >> 16) % evds_.size()] : evd;
  }

  // Once after each trigger that comes twice: true, when the first has been taken.
  bool take_echo() { return std::exchange(is_echo_due_, false) && !evds_.empty(); }
  // An EVD of the CNO; null: there is none.
  Handle any() const { return evds_.empty() ? nullptr : evds_[(drawn_ >> 32) % evds_.size()]; }

 private:
  const std::uint64_t state_;
  std::vector<Handle> evds_;
  std::uint64_t triggers_ = 0;
  std::uint64_t drawn_ = 0;
  bool is_echo_due_ = false;
};

}  // namespace softdat::object
