// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/process_network.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace softdat::transport::loop {
namespace {

// Never destroyed: adapters may be closed while the process ends. A child keeps its parent's, for the carriers that it
// has a copy of.
struct Place {
  LoopNetwork network;
  Place* of_parent = nullptr;
};

std::atomic<Place*> current{nullptr};

// Takes no lock before fork(): the forking thread may hold a lock for which a thread in the network waits.
void resume_child() {
  Place* const of_parent = current.load();
  of_parent->network.after_fork_in_child();
  auto* const fresh = new (std::nothrow) Place;
  // Out of memory: the child goes on in its copy of the parent's network.
  if (fresh == nullptr) return;
  fresh->of_parent = of_parent;
  current.store(fresh);
}

}  // namespace

LoopNetwork& process_network() {
  [[maybe_unused]] static const bool is_begun = [] {
    current.store(new Place);
    return ::pthread_atfork(nullptr, nullptr, resume_child) == 0;
  }();
  return current.load()->network;
}

}  // namespace softdat::transport::loop
