// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/work_queue_pair.h"

#include "base/assert.h"

namespace softdat::verbs {

bool WorkQueuePair::is_device_done() {
  const auto posters = lock();
  const bool are_sends_done = sends_.is_device_done();
  const bool are_recvs_done = recvs_.is_device_done();
  return are_sends_done && are_recvs_done;
}

void WorkQueuePair::flush() {
  // Takes lock() itself. A post that comes in between is not handed to the device, because the state is kError.
  const bool is_done = is_device_done();
  const auto posters = lock();
  if (!is_done) device_pair_.destroy();
  sends_.flush();
  recvs_.flush();
  base::check(sends_.ring().is_empty() && recvs_.ring().is_empty(), "a flush leaves nothing outstanding",
              sends_.ring().outstanding(), recvs_.ring().outstanding());
}

hca::Outcome WorkQueuePair::renew_locked(EventTarget& target) {
  base::require_lock(locks::kVerbsPostSend);
  base::require_lock(locks::kVerbsPostReceive);
  device_pair_.destroy();
  if (const hca::Outcome made = device_pair_.make(target); !made) return made;
  sends_.renew();
  recvs_.renew();
  return hca::Done{};
}

}  // namespace softdat::verbs
