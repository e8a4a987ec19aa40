// SPDX-License-Identifier: BSD-2-Clause
#include "memory/fork_handlers.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "base/forks.h"
#include "base/lasting.h"
#include "memory/arena.h"
#include "memory/lock_places.h"

namespace softdat::memory {
namespace {

struct Followers {
  base::Mutex<locks::kFollowers> mutex;
  std::vector<Arena*> arenas;  // guarded by mutex
};

// Never destroyed: processes fork while they end, too.
constinit base::Lasting<Followers> g_followers;

Followers& followers() {
  return g_followers.value;
}

std::atomic<unsigned> generation{0};  // stored by the child alone, before it has threads

// Takes kFollowers and both locks of each arena; resume_parent() or resume_child() gives them back. In between no other
// thread can move pages or list an arena, so the child inherits a consistent plan.
void prepare() {
  followers().mutex.lock();
  for (Arena* arena : followers().arenas) arena->before_fork();
}

void resume_parent() {
  for (Arena* arena : followers().arenas) arena->after_fork_in_parent();
  followers().mutex.unlock();
}

void resume_child() {
  generation.store(generation.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  for (Arena* arena : followers().arenas) arena->after_fork_in_child();
  followers().mutex.unlock();
}

// Runs when the library is loaded, before its other parts register handlers that run after a fork: the first to be
// registered run last before a fork and first after it. A handler that stored something in the child before this one
// would store it in the parent's memory.
[[gnu::constructor(103)]] void begin_to_follow() {
  base::on_fork({.prepare = prepare, .in_parent = resume_parent, .in_child = resume_child});
}

}  // namespace

void follow_forks(Arena& arena) {
  const std::lock_guard lock(followers().mutex);
  followers().arenas.push_back(&arena);
}

void ignore_forks(Arena& arena) {
  const std::lock_guard lock(followers().mutex);
  std::erase(followers().arenas, &arena);
}

unsigned fork_generation() {
  return generation.load(std::memory_order_relaxed);
}

}  // namespace softdat::memory
