/* SPDX-License-Identifier: BSD-2-Clause */
/* The lock of a handle cell against free: one locked exchange is pin, mutual exclusion and the fence against free.
 * Two callers exchange LOCK to 1, look whether the cell is closing, work on the object, and store LOCK 0. The freer
 * stores CLOSING, takes LOCK once as callers do, gives it back, and destroys the object. A caller that takes LOCK after
 * the freer sees CLOSING, and no caller that took it before is still inside.
 * Words: LOCK is exchanged and stored by its holder; CLOSING is stored by the freer alone, once.
 *
 * refused: LATE_CLOSING the freer stores CLOSING after it has given LOCK back
 * refused: LOOK_FIRST   a caller looks at CLOSING before it holds LOCK
 * refused: NO_WAIT      the freer does not take LOCK
 * refused: PLAIN_TAKE   LOCK is taken by a load and a store */
#define THREADS 3
#define WORDS 2
#include "memory.pml"

#define LOCK 0
#define CLOSING 1
#define FREER 2

bool is_destroyed = false;
byte inside = 0;

inline take(me) {
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
  :: memory[LOCK] == 0 || pending[(me) * WORDS + LOCK] > 0 ->
     swap(me, LOCK, 1, was);
     if
     :: was == 0 -> break
     :: else
     fi
  od;
#endif
}

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
       take(me);
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
  byte was;
#ifndef LATE_CLOSING
  put(FREER, CLOSING, 1);
#endif
#ifndef NO_WAIT
  take(FREER);
  put(FREER, LOCK, 0);
#endif
#ifdef LATE_CLOSING
  put(FREER, CLOSING, 1);
#endif
  is_destroyed = true
}

init { atomic { run drain(0); run drain(1); run drain(FREER); run caller(0); run caller(1); run freer() } }
