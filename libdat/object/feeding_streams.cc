// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/feeding_streams.h"

#include <mutex>

#include "libdat/object/event_queue.h"

namespace softdat::object {

Status FeedingStreams::add_dto(NotifyMode mode, StatusDetail handle) {
  if (!takes(kDtoStream) || !add()) return invalid_handle(handle);
  bool must_arm = false;
  {
    std::lock_guard lock(mutex_);
    modes_.add(mode);
    must_arm = note_modes_locked();
  }
  if (must_arm) arm();
  return kOk;
}

void FeedingStreams::remove_dto(NotifyMode mode) {
  bool must_arm = false;
  {
    std::lock_guard lock(mutex_);
    modes_.remove(mode);
    must_arm = note_modes_locked();
  }
  if (must_arm) arm();
  remove();
}

// True when the queue must be armed anew: a thread that already waits may have armed it for other completions, or not
// at all if every completion notified until now.
bool FeedingStreams::note_modes_locked() {
  base::require_lock(locks::kFeedingStreams);
  const NotifyMode mode = modes_.strictest();
  const bool is_solicited_only = modes_.are_all_solicited();
  const bool is_other_scope = is_solicited_only_.exchange(is_solicited_only) != is_solicited_only;
  return mode_.exchange(mode) != mode || is_other_scope;
}

// The thread that arms last must know the newest scope: another one may change the scope, and arm, between the load and
// the arming here.
void FeedingStreams::arm() const {
  bool is_solicited_only = false;
  do {
    is_solicited_only = is_solicited_only_.load();
    queue_.arm(is_solicited_only);
  } while (is_solicited_only_.load() != is_solicited_only);
}

}  // namespace softdat::object
