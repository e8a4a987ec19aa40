// SPDX-License-Identifier: BSD-2-Clause
// Holder: holds one thing of a channel back, and hands it on when the hold is over. nasty_carrier.h says what ends a
// hold.
//
// A part of a NastyChannel; the carrier must outlive it. Owned by the baton.
#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.h"

namespace softdat::simnic::nasty {

class NastyCarrier;

// For how long something is held back.
struct Hold {
  std::uint64_t looks = 0;  // until the carrier has counted so many...
  base::Time deadline{};    // ...or until then
};

class Holder {
 public:
  // Throws std::bad_alloc, so that no hold does.
  explicit Holder(NastyCarrier& carrier);
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  // For the carrier. None: nothing is held back.
  const std::optional<Hold>& hold() const { return hold_; }
  // The hold is over. May destroy this.
  void end_hold();

 protected:
  ~Holder();

  bool is_holding() const { return hold_.has_value(); }
  // Replaces a hold that there is. Allocates nothing.
  void begin_hold(unsigned looks, base::Duration longest);
  void cancel_hold() { hold_.reset(); }

 private:
  // Hands on what was held back, or begins another hold.
  virtual void on_hold_over() = 0;

  NastyCarrier& carrier_;
  std::optional<Hold> hold_;
};

}  // namespace softdat::simnic::nasty
