// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/process_network.h"

#include <pthread.h>

#include <atomic>
#include <new>

namespace softdat::transport::loop {
namespace {

// Never destroyed: adapters may be closed while the process ends. A child keeps its parent's, for the carriers that it
// has a copy of.
std::atomic<LoopNetwork*> current{nullptr};

void prepare() {
  current.load()->before_fork();
}

void resume_parent() {
  current.load()->after_fork_in_parent();
}

void resume_child() {
  current.load()->after_fork_in_child();
  if (auto* const fresh = new (std::nothrow) LoopNetwork) current.store(fresh);
}

}  // namespace

LoopNetwork& process_network() {
  [[maybe_unused]] static const bool is_begun = [] {
    current.store(new LoopNetwork);
    return ::pthread_atfork(prepare, resume_parent, resume_child) == 0;
  }();
  return *current.load();
}

}  // namespace softdat::transport::loop
