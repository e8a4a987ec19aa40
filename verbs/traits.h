// SPDX-License-Identifier: BSD-2-Clause
// What an open device can do, beyond the numbers of its attributes; and how its transport behaves.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "verbs/place.h"

namespace softdat::verbs {

struct Traits {
  Place place{};
  bool is_iwarp = false;
  bool has_atomics = false;
  bool has_immediate = false;
  bool has_invalidate = false;
  bool has_windows = false;
  std::uint32_t max_read_sge = 1;
  std::uint32_t max_private_data = 0;
  // A connection that stands is kept from its consumer so long, or until the peer has sent something: devices that lose
  // what comes too close behind the reply. See docs/BACKENDS.md.
  base::Duration pause_of_initiator{};
  base::Duration pause_of_responder{};
};

}  // namespace softdat::verbs
