// SPDX-License-Identifier: BSD-2-Clause
#include "base/lock_order.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "base/assert.h"

#ifndef NDEBUG
namespace softdat::base {
namespace {

// How many locks of one place the thread holds.
struct Entry {
  const LockPlace* place;
  std::uint32_t count;
};

// Small, and in initial-exec storage: a handler of SIGSEGV takes locks, too, and must not allocate.
struct Held {
  std::array<Entry, 16> entries;
  std::uint32_t count;
};

[[gnu::tls_model("initial-exec")]] constinit thread_local Held held{};

Entry* find(const LockPlace& place) {
  Entry* const end = held.entries.data() + held.count;
  Entry* const found = std::find_if(held.entries.data(), end, [&](const Entry& each) { return each.place == &place; });
  return found == end ? nullptr : found;
}

bool may_follow(const LockPlace& wanted, const LockPlace& has) {
  if (wanted.place > has.place || (&wanted == &has && wanted.is_several)) return true;
  // `guard`: while this other lock is held, no thread that waits for `has` can hold a lock that is wanted here
  // (docs/THREADS.md).
  return has.guard != nullptr && find(*has.guard) != nullptr;
}

}  // namespace

// Called before the wait, so that a wrong order aborts even in a run in which the deadlock does not happen.
void note_lock_wait(const LockPlace& wanted) {
  for (std::uint32_t i = 0; i < held.count; ++i) {
    const LockPlace& has = *held.entries[i].place;
    if (may_follow(wanted, has)) [[likely]]
      continue;
    std::fprintf(stderr, "libdat: the order of locks is broken: %s (%d) is waited for, and %s (%d) is held\n",
                 wanted.name, wanted.place, has.name, has.place);
    std::abort();
  }
}

void note_lock_taken(const LockPlace& taken) {
  if (Entry* const there = find(taken)) {
    ++there->count;
    return;
  }
  check(held.count < held.entries.size(), "a thread holds locks of few places", held.count);
  held.entries[held.count++] = {&taken, 1};
}

void note_lock_given_back(const LockPlace& given) {
  Entry* const there = find(given);
  check(there != nullptr, "the thread that gives back a lock has taken it", static_cast<std::uint64_t>(given.place));
  if (--there->count == 0) *there = held.entries[--held.count];
}

void require_lock(const LockPlace& place, const char* file, int line) {
  if (find(place) != nullptr) return;
  std::fprintf(stderr, "libdat: %s is not held at %s:%d\n", place.name, file, line);
  std::abort();
}

void require_no_lock(const char* file, int line) {
  if (held.count == 0) return;
  std::fprintf(stderr, "libdat: %s is held at %s:%d\n", held.entries[0].place->name, file, line);
  std::abort();
}

}  // namespace softdat::base
#endif
