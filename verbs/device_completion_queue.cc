// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/device_completion_queue.h"

#include <algorithm>
#include <cerrno>

#include "base/uncancelled.h"
#include "verbs/event_thread.h"
#include "verbs/lock_places.h"
#include "verbs/status.h"

namespace softdat::verbs {
namespace {

// Slots beside the consumer's, to begin with, and where the device is asked for the most it has.
constexpr std::size_t kSpare = 256;
constexpr std::size_t kLeastSpare = 32;

}  // namespace

DeviceCompletionQueue::~DeviceCompletionQueue() {
  const base::Uncancelled guard;
  if (cq_ != nullptr) adapter_.library().objects.destroy_cq(cq_);
}

// The smaller number is for the longest queue that is offered: attributes_of() keeps kLeastSpare slots below the
// device's limit.
hca::Outcome DeviceCompletionQueue::make(std::size_t capacity) {
  for (const std::size_t spare : {kSpare, kLeastSpare}) {
    if (cq_ != nullptr) break;
    cq_ = adapter_.library().objects.create_cq(adapter_.context, static_cast<int>(capacity + spare), nullptr,
                                               adapter_.completions, 0);
  }
  if (cq_ == nullptr) return hca::fail(error_of(errno));
  capacity_ = capacity;
  note_spare();
  return hca::Done{};
}

hca::Outcome DeviceCompletionQueue::resize(std::size_t capacity) {
  base::require_lock(locks::kCompletionQueue);
  int error = grow(capacity + std::max(kLeastSpare, expected_sends_));
  if (error != 0) error = grow(capacity + kLeastSpare);
  if (error != 0) return hca::fail(error_of(error));
  // Slots that requests under way may still need.
  if (static_cast<std::size_t>(cq_->cqe) < capacity + unwanted_.load(std::memory_order_acquire)) {
    return hca::fail(hca::Error::kUnsupported);
  }
  capacity_ = capacity;
  note_spare();
  return hca::Done{};
}

// A queue is never made shorter: slots that the consumer gives up count as spare.
int DeviceCompletionQueue::grow(std::size_t wanted) {
  base::require_lock(locks::kCompletionQueue);
  const int size = static_cast<int>(wanted);
  return size <= cq_->cqe ? 0 : adapter_.library().objects.resize_cq(cq_, size);
}

void DeviceCompletionQueue::note_spare() {
  most_unwanted_.store(static_cast<std::uint32_t>(cq_->cqe) - static_cast<std::uint32_t>(capacity_),
                       std::memory_order_relaxed);
}

// A device that does not let its queue grow has its posters wait for their turn; see count_unwanted().
void DeviceCompletionQueue::expect_sends(std::uint32_t count) {
  const base::Uncancelled guard;
  expected_sends_ += count;
  grow(capacity_ + expected_sends_);
  note_spare();
}

void DeviceCompletionQueue::release_sends(std::uint32_t count) {
  base::require_lock(locks::kCompletionQueue);
  base::check(count <= expected_sends_, "a queue pair releases the sends that it announced", count, expected_sends_);
  expected_sends_ -= count;
}

void DeviceCompletionQueue::arm(Armed how) {
  base::require_lock(locks::kCompletionQueue);
  SOFTDAT_DEBUG_CHECK(how != Armed::kOff, "an event disarms the device, not a call");
  armed_ = how;
  const base::Uncancelled guard;
  ibv_req_notify_cq(cq_, how == Armed::kSolicited ? 1 : 0);
}

}  // namespace softdat::verbs
