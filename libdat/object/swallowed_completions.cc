// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/swallowed_completions.h"

#include <array>

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
  queue_->arm(false);
  swallow();
}

void SwallowedCompletions::swallow() const {
  std::array<hca::Completion, 16> ignored;
  while (queue_->poll(ignored) == ignored.size()) {
  }
}

}  // namespace softdat::object
