// SPDX-License-Identifier: BSD-2-Clause
#include "base/forks.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "base/assert.h"

namespace softdat::base {
namespace {

constexpr std::size_t kMost = 24;
// The loader runs one constructor at a time, so these have one writer. on_fork() stores the handlers before the count.
constinit std::array<ForkHandlers, kMost> g_handlers{};
constinit std::atomic<std::size_t> g_count{0};

enum class Caller { kCLibrary, kNobody, kRegistry };
constinit std::atomic<Caller> g_caller{Caller::kCLibrary};

// How many handlers have prepared the fork of this thread; kNone: this thread is not in fork().
constexpr std::size_t kNone = kMost + 1;
thread_local constinit std::size_t t_prepared = kNone;

void call(ForkHandler handler) {
  if (handler != nullptr) handler();
}

void prepare() {
  if (t_prepared != kNone) return;
  t_prepared = g_count.load(std::memory_order_acquire);
  for (std::size_t i = t_prepared; i > 0; --i) call(g_handlers[i - 1].prepare);
}

void resume(ForkHandler ForkHandlers::*handler) {
  const std::size_t prepared = std::exchange(t_prepared, kNone);
  for (std::size_t i = 0; prepared != kNone && i < prepared; ++i) call(g_handlers[i].*handler);
}

void resume_parent() {
  resume(&ForkHandlers::in_parent);
}

void resume_child() {
  resume(&ForkHandlers::in_child);
}

void prepare_by_c_library() {
  if (g_caller.load(std::memory_order_acquire) == Caller::kCLibrary) prepare();
}

// Must run after postpone_forks(), so it has the default priority.
[[gnu::constructor]] void register_with_c_library() {
  static_cast<void>(::pthread_atfork(prepare_by_c_library, resume_parent, resume_child));
}

}  // namespace

void on_fork(const ForkHandlers& handlers) {
  const std::size_t count = g_count.load(std::memory_order_relaxed);
  check(count < kMost, "a library has so many fork handlers", count);
  g_handlers[count] = handlers;
  g_count.store(count + 1, std::memory_order_release);
}

void postpone_forks() {
  g_caller.store(Caller::kNobody, std::memory_order_release);
}

void follow_forks() {
  Caller nobody = Caller::kNobody;
  g_caller.compare_exchange_strong(nobody, Caller::kCLibrary, std::memory_order_acq_rel);
}

const ForkHandlers& lend_forks() {
  static constexpr ForkHandlers kAll{prepare, resume_parent, resume_child};
  g_caller.store(Caller::kRegistry, std::memory_order_release);
  return kAll;
}

}  // namespace softdat::base
