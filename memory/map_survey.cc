// SPDX-License-Identifier: BSD-2-Clause
#include "memory/map_survey.h"

#include "memory/lock_places.h"

namespace softdat::memory {
namespace {

// The kernel allows a process some 65,000 mappings; what we add must leave the consumer enough.
constexpr std::size_t kMostMappings = 30'000;

}  // namespace

void MapSurvey::refresh() {
  base::require_lock(locks::kArena);
  const base::Time begin = base::Clock::now();
  if (begin < look_again_) return;
  seen_ = look_through_map();
  new_since_ = 0;
  const base::Time end = base::Clock::now();
  look_again_ = end + 4 * (end - begin);
}

bool MapSurvey::has_room() const {
  return seen_.count + new_since_ <= kMostMappings;
}

}  // namespace softdat::memory
