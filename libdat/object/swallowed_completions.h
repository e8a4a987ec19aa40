// SPDX-License-Identifier: BSD-2-Clause
// SwallowedCompletions: takes and drops the completions of an EP without receive or request EVD.
#pragma once

#include <cstddef>
#include <memory>

#include "base/spin_lock.h"
#include "hca/device.h"
#include "libdat/object/lock_places.h"

namespace softdat::object {

// Emptied before every post, and as completions come if it `empties_itself`; as long as no more than
// `capacity` can be outstanding it cannot overflow.
class SwallowedCompletions final : private hca::CompletionSink {
 public:
  static hca::Result<std::unique_ptr<SwallowedCompletions>> create(hca::Device& device, std::size_t capacity,
                                                                   bool empties_itself);
  ~SwallowedCompletions() { hca::destroy(queue_); }

  hca::CompletionQueue& queue() const { return *queue_; }
  [[gnu::noinline]] void swallow() const;  // any thread

 private:
  SwallowedCompletions() = default;
  void on_completion() override;
  void on_overflow() override {}

  std::unique_ptr<hca::CompletionQueue> queue_;  // fixed after create()
  // Held while the queue is polled.
  mutable base::Ordered<base::SpinLock, locks::kSwallowed> lock_;
};

}  // namespace softdat::object
