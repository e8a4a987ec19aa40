// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/abandoned_names.h"

#include <chrono>
#include <new>

namespace softdat::transport::shm {
namespace {

// A dying process closes its link before its listeners.
constexpr base::Duration kAbandonedPause = std::chrono::milliseconds(5);
// A process that dies closes one socket after the other, perhaps without a processor.
constexpr int kAbandonedTries = 400;
constexpr std::size_t kMostAbandoned = 1024;

}  // namespace

AbandonedNames::AbandonedNames(const Rendezvous& rendezvous, Attention& attention, Reactor& reactor)
    : rendezvous_(rendezvous), attention_(attention), duty_(reactor, kAbandonedPause) {}

// If there is no memory to note the name, the next carrier that opens removes the file.
void AbandonedNames::add(const ServiceKey& name) try {
  attention_.stir();
  if (names_.size() < kMostAbandoned) names_.push_back({name, kAbandonedTries});
  duty_.note(true);
} catch (const std::bad_alloc&) {
  return;
}

// Out of memory, the names that are left are looked at the next time.
void AbandonedNames::turn(base::Time now) try {
  if (look_at_ && now < *look_at_) return;
  look_at_ = base::deadline_after(now, kAbandonedPause);
  for (Name& name : names_) {
    --name.tries_left;
    if (rendezvous_.remove_if_stale(name.key.first, name.key.second)) name.tries_left = 0;
  }
  std::erase_if(names_, [](const Name& name) { return name.tries_left <= 0; });
  duty_.note(!names_.empty());
} catch (const std::bad_alloc&) {
  return;
}

}  // namespace softdat::transport::shm
