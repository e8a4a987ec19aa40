// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/swallowed_completions.h"

#include <array>

namespace softdat::object {

hca::Result<std::unique_ptr<SwallowedCompletions>> SwallowedCompletions::create(hca::Device& device,
                                                                                std::size_t capacity) {
  std::unique_ptr<SwallowedCompletions> self(new SwallowedCompletions);
  auto queue = device.create_cq(capacity, *self);
  if (!queue) return hca::fail(queue.reason());
  self->queue_ = std::move(*queue);
  return self;
}

void SwallowedCompletions::swallow() const {
  std::array<hca::Completion, 16> ignored;
  while (queue_->poll(ignored) == ignored.size()) {
  }
}

}  // namespace softdat::object
