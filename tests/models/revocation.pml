/* SPDX-License-Identifier: BSD-2-Clause */
/* Revoking a key against the threads that may be in its memory: a poster (under its endpoint's lock byte) reads it, a
 * poller (under the link's poll lock) places a message there. Each takes its lock, looks the key up, and touches the
 * memory; no lookup outlives a lock. dat_lmr_free stores KEY 0, fences, and waits until each lock has been 0 once; then
 * the memory is the program's again.
 * Words: KEY by the owner; POST and POLL exchanged and stored by their holders.
 *
 * refused: NO_FENCE      the owner's looks at the locks overtake its store of KEY
 * refused: POSTS_ONLY    the owner does not wait for pollers
 * refused: LOOKED_BEFORE a poster uses what it looked up before it held the lock
 * refused: KEPT          a poller uses what it looked up for the message before */
#define THREADS 3
#define WORDS 3
#include "memory.pml"

#define KEY 0
#define POST 1
#define POLL 2
#define OWNER 2

bool is_returned = false;

inline take(lock) {
  do
  :: memory[lock] == 0 ->
     swap(me, lock, 1, was);
     if
     :: was == 0 -> break
     :: else
     fi
  od
}

proctype user(byte me) {
  byte lock = POST + me;
  byte was;
  byte key = 0;
  byte turns = 0;
#ifdef KEPT
  if
  :: me == 1 -> get(me, KEY, key)
  :: else
  fi;
#endif
  do
  :: turns == 2 -> break
  :: turns < 2 ->
       turns++;
#ifdef LOOKED_BEFORE
       if
       :: me == 0 -> get(me, KEY, key)
       :: else
       fi;
#endif
       take(lock);
#ifdef LOOKED_BEFORE
       if
       :: me == 1 -> get(me, KEY, key)
       :: else
       fi;
#elif defined(KEPT)
       if
       :: me == 0 -> get(me, KEY, key)
       :: else
       fi;
#else
       get(me, KEY, key);
#endif
       if
       :: key == 1 -> assert(!is_returned)
       :: else
       fi;
       put(me, lock, 0)
  od
}

proctype owner() {
  put(OWNER, KEY, 0);
#ifndef NO_FENCE
  fence(OWNER);
#endif
  memory[POST] == 0;
#ifndef POSTS_ONLY
  memory[POLL] == 0;
#endif
  is_returned = true
}

init {
  atomic {
    memory[KEY] = 1;
    run drain(0);
    run drain(1);
    run drain(OWNER);
    run user(0);
    run user(1);
    run owner()
  }
}
