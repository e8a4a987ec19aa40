// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/process_network.h"

#include <atomic>
#include <memory>
#include <new>

#include "base/forks.h"
#include "base/made_once.h"

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
  if (of_parent == nullptr) return;
  of_parent->network.after_fork_in_child();
  auto* const fresh = new (std::nothrow) Place;
  // Out of memory: the child goes on in its copy of the parent's network.
  if (fresh == nullptr) return;
  fresh->of_parent = of_parent;
  current.store(fresh);
}

[[gnu::constructor]] void resume_children() {
  base::on_fork({.in_child = resume_child});
}

}  // namespace

LoopNetwork& process_network() {
  return base::made_once(current, [] { return std::make_unique<Place>(); }).network;
}

}  // namespace softdat::transport::loop
