// SPDX-License-Identifier: BSD-2-Clause
// StagedCompletions: completions that were taken from the device and not polled yet, oldest first.
//
// Owned by its CompletionQueue. All calls REQUIRE that queue's lock.
#pragma once

#include <boost/circular_buffer.hpp>
#include <cstddef>
#include <span>

#include "hca/types.h"

namespace softdat::verbs {

class StagedCompletions {
 public:
  // Room for at least that many. Throws std::bad_alloc.
  explicit StagedCompletions(std::size_t capacity);
  // Settles what shared receive queues are owed for those that nobody has polled.
  ~StagedCompletions();
  StagedCompletions(const StagedCompletions&) = delete;
  StagedCompletions& operator=(const StagedCompletions&) = delete;

  bool empty() const { return ring_.empty(); }
  std::size_t size() const { return ring_.size(); }
  std::size_t capacity() const { return ring_.capacity(); }

  // Keeps its completions in the room of another, which is empty and gets the room of this. REQUIRES: they fit.
  void swap_room(StagedCompletions& other);
  // False: there is no room; the completion is settled, and lost.
  bool push(const hca::Completion& completion);
  // Takes the oldest, settled. Returns how many.
  std::size_t pop(std::span<hca::Completion> out);

 private:
  boost::circular_buffer<hca::Completion> ring_;
};

}  // namespace softdat::verbs
