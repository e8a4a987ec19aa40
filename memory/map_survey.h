// SPDX-License-Identifier: BSD-2-Clause
// MapSurvey: what the last look through all mappings of the process has shown, and how many mappings may have come
// since.
//
// Threads: REQUIRES the arena's lock. Errors: none. A map that cannot be read counts as one with others at work.
#pragma once

#include <cstddef>

#include "base/clock.h"
#include "memory/address_map.h"

namespace softdat::memory {

class MapSurvey {
 public:
  // Looks through the map, unless the last look is still good enough. In a process of many mappings a look takes
  // milliseconds; so looks get a fifth of the time at most.
  void refresh();
  // Whether the kernel or a device may access memory of this process by itself.
  bool has_others_at_work() const { return seen_.has_others_at_work; }
  // Whether the process may get more mappings.
  bool has_room() const;
  void note_new(std::size_t mappings) { new_since_ += mappings; }

 private:
  LinesSeen seen_;
  std::size_t new_since_ = 0;  // at most
  base::Time look_again_{};
};

}  // namespace softdat::memory
