// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/swallowed_completions.h"

#include <array>
#include <mutex>

#include "base/assert.h"

namespace softdat::object {

hca::Result<std::unique_ptr<SwallowedCompletions>> SwallowedCompletions::create(hca::Device& device,
                                                                                std::size_t capacity,
                                                                                bool empties_itself) {
  std::unique_ptr<SwallowedCompletions> self(new SwallowedCompletions);
  auto queue = device.create_cq(capacity, *self);
  if (!queue) return hca::fail(queue.reason());
  self->queue_ = std::move(*queue);
  if (empties_itself) self->queue_->arm(false);
  return self;
}

// Armed first: what comes while it is being emptied calls again.
void SwallowedCompletions::on_completion() {
  SOFTDAT_DEBUG_CHECK(queue_ != nullptr, "a queue calls after it was armed, and so after it was made");
  queue_->arm(false);
  swallow();
}

void SwallowedCompletions::swallow() const {
  const std::lock_guard lock(lock_);
  std::array<hca::Completion, 16> ignored;
  // A poll that fills the array may have left some.
  while (queue_->poll(ignored) == ignored.size()) {
  }
}

}  // namespace softdat::object
