/* SPDX-License-Identifier: BSD-2-Clause */
/* Publishing against death. Two posters of one process claim cells by a compare and exchange of TAIL, copy, enter their
 * request where an acknowledgement will look for it, and store the cell's word 0 last. The process may die between any
 * two steps; the kernel then shows what its processors still had in their store buffers, and hangs up. The receiver
 * takes cells in order, acknowledges, and after the hang-up takes what is left up to the first cell that was never
 * published. What was published before a hole is taken whole; nothing behind it is; nobody waits for a dead poster.
 * Words: TAIL by posters (private to their process); WORD0, BYTES of each cell and ENTERED by the poster that claimed it.
 *
 * refused: WORD_FIRST   word 0 before the payload
 * refused: ENTER_LAST   the request is entered after word 0: its acknowledgement finds nothing
 * refused: PLAIN_CLAIM  cells are claimed by a load and a store
 * refused: HANGUP_FIRST the receiver believes the hang-up before it looks a last time
 * refused: SKIP_HOLE    the receiver goes on behind a hole */
#define THREADS 2
#define WORDS 7
#include "memory.pml"

#define TAIL 0
#define WORD0 1   /* of two cells */
#define BYTES 3   /* of two cells */
#define ENTERED 5 /* of two requests */

bool is_dead = false;
bool has_hung_up = false;
byte finished = 0;
bool is_published[2];

inline claim() {
#ifdef PLAIN_CLAIM
  get(me, TAIL, cell);
  put(me, TAIL, cell + 1);
#else
  do
  :: get(me, TAIL, cell);
     cas(me, TAIL, cell, cell + 1, ok);
     if
     :: ok -> break
     :: else
     fi
  od;
#endif
  assert(cell < 2)
}

proctype poster(byte me) {
  byte cell;
  bool ok;
  {
    claim();
#ifdef WORD_FIRST
    put(me, WORD0 + cell, me + 1);
#endif
    put(me, BYTES + cell, me + 1);
#ifndef ENTER_LAST
    put(me, ENTERED + cell, 1);
#endif
#ifndef WORD_FIRST
    atomic {
      put(me, WORD0 + cell, me + 1);
      is_published[cell] = true
    };
#endif
#ifdef ENTER_LAST
    put(me, ENTERED + cell, 1);
#endif
    finished++
  } unless { is_dead }
}

proctype fate() {
  if
  :: is_dead = true
  :: finished == 2
  fi;
  empty(buffer[0]) && empty(buffer[1]);
  has_hung_up = true
}

active proctype receiver() {
  byte cell = 0;
  byte taken = 0;
  byte word;
  byte value;
  bool is_last;
  run drain(0);
  run drain(1);
  run poster(0);
  run poster(1);
  run fate();
  do
  :: cell == 2 -> break
  :: cell < 2 ->
#ifdef HANGUP_FIRST
       if
       :: has_hung_up -> break
       :: else
       fi;
#endif
       is_last = has_hung_up;
       word = memory[WORD0 + cell];
       if
       :: word != 0 ->
            value = memory[BYTES + cell];
            assert(value == word);
            assert(memory[ENTERED + cell] == 1);
            assert(taken == cell);
            taken++;
            cell++
       :: word == 0 && is_last ->
#ifdef SKIP_HOLE
            cell++
#else
            break
#endif
       :: word == 0 && !is_last -> memory[WORD0 + cell] != 0 || has_hung_up
       fi
  od;
  assert(cell == 2 || !is_published[cell])
}
