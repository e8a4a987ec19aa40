// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/staged_completions.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "verbs/shared_receive_queue.h"

namespace softdat::verbs {

StagedCompletions::StagedCompletions(std::size_t capacity) : ring_(std::bit_ceil(std::max<std::size_t>(capacity, 2))) {}

// Nobody polls these any more, so the receives of shared queues among them are settled here.
StagedCompletions::~StagedCompletions() {
  SharedReceiveQueue::settle({ring_.array_one().first, ring_.array_one().second});
  SharedReceiveQueue::settle({ring_.array_two().first, ring_.array_two().second});
}

void StagedCompletions::swap_room(StagedCompletions& other) {
  base::check(other.empty() && size() <= other.capacity(), "a resize keeps what is staged", size(), other.capacity());
  other.ring_.insert(other.ring_.end(), ring_.begin(), ring_.end());
  ring_.clear();
  ring_.swap(other.ring_);
}

bool StagedCompletions::push(const hca::Completion& completion) {
  if (ring_.full()) {
    SharedReceiveQueue::settle({&completion, 1});
    return false;
  }
  ring_.push_back(completion);
  return true;
}

// Apart, because a poller seldom finds staged completions.
[[gnu::noinline]] std::size_t StagedCompletions::pop(std::span<hca::Completion> out) {
  const std::size_t count = std::min(out.size(), ring_.size());
  for (hca::Completion& completion : out.first(count)) {
    completion = ring_.front();
    ring_.pop_front();
  }
  SharedReceiveQueue::settle(out.first(count));
  return count;
}

}  // namespace softdat::verbs
