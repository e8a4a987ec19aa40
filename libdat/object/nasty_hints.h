// SPDX-License-Identifier: BSD-2-Clause
// NastyHints: what a CNO tells in nasty mode (docs/NASTY.md). DAT calls the EVD that a wait returns a hint, and has the
// consumer poll all of them; so a hint may name another EVD of the CNO, and a trigger may come twice.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "base/mix.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/lock_places.h"

namespace softdat::object {

// Guarded by the CNO's lock. What it does is a function of the seed, the CNO's number and the number of the trigger.
class NastyHints {
 public:
  NastyHints(std::uint64_t seed, std::uint64_t number) : state_(base::mix(base::mix(seed) ^ number)) {}

  // These take the EVDs of the CNO.

  // The hint for a trigger of `evd`: one of them. Draws anew, and decides whether the trigger comes twice.
  Handle misname(Handle evd, std::span<const Handle> evds) {
    base::require_lock(locks::kConsumerNotification);
    drawn_ = base::mix(state_ ^ ++triggers_);
    is_echo_due_ = drawn_ % 4 == 0;
    const bool is_lie = (drawn_ >> 8) % 2 == 0 && !evds.empty();
    return is_lie ? evds[(drawn_ >> 16) % evds.size()] : evd;
  }

  // Once after each trigger that comes twice: true, when the first has been taken.
  bool take_echo(std::span<const Handle> evds) { return std::exchange(is_echo_due_, false) && !evds.empty(); }
  // One of them; null: there is none.
  Handle any(std::span<const Handle> evds) const { return evds.empty() ? nullptr : evds[(drawn_ >> 32) % evds.size()]; }

 private:
  const std::uint64_t state_;
  std::uint64_t triggers_ = 0;
  std::uint64_t drawn_ = 0;
  bool is_echo_due_ = false;
};

}  // namespace softdat::object
