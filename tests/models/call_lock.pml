/* SPDX-License-Identifier: BSD-2-Clause */
/* The lock word of a handle cell against free: one locked exchange is pin, mutual exclusion and revocation fence.
 * Two callers exchange LOCK to 1, look whether the cell is closing, work on the object, and store LOCK 0. The freer
 * stores CLOSING, fences, waits until LOCK has been 0 once, and destroys the object. The exchange of a caller that the
 * freer did not see is behind the freer's fence, so this caller sees CLOSING.
 * Words: LOCK is exchanged and stored by its holder; CLOSING is stored by the freer alone, once.
 *
 * refused: NO_FENCE     the freer's look at LOCK overtakes its store of CLOSING
 * refused: LOOK_FIRST   a caller looks at CLOSING before it holds LOCK
 * refused: NO_WAIT      the freer does not wait for the holder
 * refused: PLAIN_TAKE   LOCK is taken by a load and a store */
#define THREADS 3
#define WORDS 2
#include "memory.pml"

#define LOCK 0
#define CLOSING 1
#define FREER 2

bool is_destroyed = false;
byte inside = 0;

proctype caller(byte me) {
  byte was;
  byte closing;
  byte calls = 0;
  do
  :: calls == 2 -> break
  :: calls < 2 ->
       calls++;
#ifdef LOOK_FIRST
       get(me, CLOSING, closing);
#endif
#ifdef PLAIN_TAKE
       do
       :: get(me, LOCK, was);
          if
          :: was == 0 -> put(me, LOCK, 1); break
          :: else
          fi
       od;
#else
       do
       :: memory[LOCK] == 0 || pending[me * WORDS + LOCK] > 0 ->
          swap(me, LOCK, 1, was);
          if
          :: was == 0 -> break
          :: else
          fi
       od;
#endif
#ifndef LOOK_FIRST
       get(me, CLOSING, closing);
#endif
       if
       :: closing == 0 ->
            inside++;
            assert(inside == 1);
            assert(!is_destroyed);
            inside--
       :: else
       fi;
       put(me, LOCK, 0)
  od
}

proctype freer() {
  put(FREER, CLOSING, 1);
#ifndef NO_FENCE
  fence(FREER);
#endif
#ifndef NO_WAIT
  memory[LOCK] == 0;
#endif
  is_destroyed = true
}

init { atomic { run drain(0); run drain(1); run drain(FREER); run caller(0); run caller(1); run freer() } }
