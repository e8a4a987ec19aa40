// SPDX-License-Identifier: BSD-2-Clause
#include "base/forks.h"

#include <pthread.h>

#include <array>
#include <cstddef>
#include <utility>

#include "base/assert.h"

namespace softdat::base {
namespace {

// Written by constructors, of which the loader runs one at a time; then only read.
constinit std::array<ForkHandlers, 24> g_handlers{};
constinit std::size_t g_count = 0;
// This thread forks, and its handlers have run before.
thread_local constinit bool t_is_prepared = false;

void call(ForkHandler handler) {
  if (handler != nullptr) handler();
}

void prepare() {
  if (std::exchange(t_is_prepared, true)) return;
  for (std::size_t i = g_count; i > 0; --i) call(g_handlers[i - 1].prepare);
}

void resume(ForkHandler ForkHandlers::*handler) {
  if (!std::exchange(t_is_prepared, false)) return;
  for (std::size_t i = 0; i < g_count; ++i) call(g_handlers[i].*handler);
}

void resume_parent() {
  resume(&ForkHandlers::in_parent);
}

void resume_child() {
  resume(&ForkHandlers::in_child);
}

}  // namespace

void on_fork(const ForkHandlers& handlers) {
  check(g_count < g_handlers.size(), "a library has so many fork handlers", g_count);
  if (g_count == 0) static_cast<void>(::pthread_atfork(prepare, resume_parent, resume_child));
  g_handlers[g_count++] = handlers;
}

const ForkHandlers& library_fork_handlers() {
  static constexpr ForkHandlers kAll{prepare, resume_parent, resume_child};
  return kAll;
}

}  // namespace softdat::base
