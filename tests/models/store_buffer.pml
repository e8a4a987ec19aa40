/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory that all models stand on, by two litmus tests.
 * Store buffering: each of two threads stores its word and then loads the other's. With a fence between, one of them
 * sees the other. Without it both may see nothing: a model that could not show that would find no missing fence.
 * Message passing: stores become visible in order, so whoever sees the second sees the first.
 *
 * refused: NO_FENCE    a load overtakes the store before it
 * refused: ONE_FENCE   one fence of the two
 * refused: BACKWARDS   the flag is stored before the data */
#define THREADS 2
#define WORDS 4
#include "memory.pml"

#define X 0
#define Y 1
#define DATA 2
#define FLAG 3

byte seen[2];
byte done = 0;

proctype storer(byte me) {
  byte value;
  if
  :: me == 0 ->
#ifdef BACKWARDS
       put(0, FLAG, 1);
       put(0, DATA, 1)
#else
       put(0, DATA, 1);
       put(0, FLAG, 1)
#endif
  :: else ->
       get(1, FLAG, value);
       if
       :: value == 1 -> get(1, DATA, value); assert(value == 1)
       :: else
       fi
  fi;
  put(me, me, 1);
#ifndef NO_FENCE
#ifdef ONE_FENCE
  if
  :: me == 0 -> fence(me)
  :: else
  fi;
#else
  fence(me);
#endif
#endif
  get(me, 1 - me, value);
  d_step { seen[me] = value; done++ }
}

active proctype judge() {
  done == 2;
  assert(seen[0] == 1 || seen[1] == 1)
}

init { atomic { run drain(0); run drain(1); run storer(0); run storer(1) } }
