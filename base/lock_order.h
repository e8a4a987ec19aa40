// SPDX-License-Identifier: BSD-2-Clause
// The order of locks. Each lock has a place in it: a thread that holds a lock takes only locks with greater places, so
// no two threads wait for each other. Debug builds (debug, asan, tsan) check that at every lock that may wait, and
// abort with both names. A try_lock() never waits, so it is not checked; what it took counts from then on. Other builds
// keep nothing: an Ordered lock is the lock.
//
// Each room names the places of its locks in its lock_places.h; docs/THREADS.md shows them all, printed from there.
#pragma once

#include <mutex>  // std::lock_guard and the like, for all that lock

#include "base/brief_lock.h"

namespace softdat::base {

struct LockPlace {
  int place;
  const char* name;         // as the code names the lock: Class::member_, or the bare name
  const char* held;         // while what happens; for the table in docs/THREADS.md
  bool is_several = false;  // a thread may hold several of this place
  // A thread that holds the guard, too, may take locks of smaller places: a thread that waits for this lock with one of
  // them held would need the guard.
  const LockPlace* guard = nullptr;
};

// Ordered calls these for the calling thread: note_lock_wait() before a lock that may wait, note_lock_taken() after it,
// note_lock_given_back() before the unlock. Locks may be given back in any order.
#ifdef NDEBUG
inline void note_lock_wait(const LockPlace&) {}
inline void note_lock_taken(const LockPlace&) {}
inline void note_lock_given_back(const LockPlace&) {}
inline void require_lock(const LockPlace&) {}
inline void require_no_lock() {}
#else
void note_lock_wait(const LockPlace& wanted);
void note_lock_taken(const LockPlace& taken);
void note_lock_given_back(const LockPlace& given);
// Abort unless the calling thread holds a lock of the place; unless it holds no lock. For the first line of a function
// that needs that.
void require_lock(const LockPlace& place, const char* file = __builtin_FILE(), int line = __builtin_LINE());
void require_no_lock(const char* file = __builtin_FILE(), int line = __builtin_LINE());
#endif

// A lock (BriefLock, SpinLock, std::shared_mutex ...) with its place. Meets the requirements of the standard that
// `Lock` meets.
template <typename Lock, const LockPlace& kPlace>
class Ordered {
 public:
  constexpr Ordered() = default;
  Ordered(const Ordered&) = delete;
  Ordered& operator=(const Ordered&) = delete;

  [[gnu::always_inline]] void lock() {
    note_lock_wait(kPlace);
    lock_.lock();
    note_lock_taken(kPlace);
  }
  [[gnu::always_inline]] bool try_lock() {
    const bool is_taken = lock_.try_lock();
    if (is_taken) note_lock_taken(kPlace);
    return is_taken;
  }
  [[gnu::always_inline]] void unlock() {
    note_lock_given_back(kPlace);
    lock_.unlock();
  }
  void lock_shared() {
    note_lock_wait(kPlace);
    lock_.lock_shared();
    note_lock_taken(kPlace);
  }
  void unlock_shared() {
    note_lock_given_back(kPlace);
    lock_.unlock_shared();
  }

 private:
  Lock lock_;
};

template <const LockPlace& kPlace>
using Mutex = Ordered<BriefLock, kPlace>;

// The place of leaves: a thread that holds a leaf takes no other lock, but to say something (base/log.h).
inline constexpr int kLeafPlace = 900;

}  // namespace softdat::base
