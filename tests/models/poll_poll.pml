/* SPDX-License-Identifier: BSD-2-Clause */
/* Two pollers of one ring of cells. An empty poll takes no lock: it looks at the tag of the cell at HEAD. A poller that
 * finds a message takes the link's poll lock, looks again, and takes it. The sender stores the payload, then the tag,
 * which is the number of the lap, so nothing need be cleared. Each message is taken once, in order and whole.
 * Words: TAG and BYTES of each cell: the sender. HEAD: the holder of LOCK, also seen by pollers and the sender.
 *
 * refused: NO_LOOK_AGAIN  takes what was seen before the lock
 * refused: NO_LOCK        takes without the lock
 * refused: NO_LAP         the tag says only that a cell has been filled
 * refused: TAG_FIRST      the sender publishes before it copies
 * refused: EARLY_HEAD     gives the cell back before it has been read */
#define THREADS 3
#define WORDS 6
#include "memory.pml"

#define HEAD 0
#define LOCK 1
#define TAG 2   /* of two cells */
#define BYTES 4 /* of two cells */
#define SENDER 2
#define MESSAGES 3

#ifdef NO_LAP
#define TAG_OF(number) 1
#else
#define TAG_OF(number) ((number) / 2 + 1)
#endif

byte taken = 0; /* how many, which is the number of the next one */

proctype sender() {
  byte number = 0;
  byte head;
  do
  :: number == MESSAGES -> break
  :: number < MESSAGES && number - memory[HEAD] < 2 ->
#ifdef TAG_FIRST
       put(SENDER, TAG + number % 2, TAG_OF(number));
       put(SENDER, BYTES + number % 2, number + 1);
#else
       put(SENDER, BYTES + number % 2, number + 1);
       put(SENDER, TAG + number % 2, TAG_OF(number));
#endif
       number++
  od
}

proctype poller(byte me) {
  byte head;
  byte tag;
  byte value;
  byte was;
  do
  :: taken >= MESSAGES -> break
  :: else ->
       get(me, HEAD, head);
       get(me, TAG + head % 2, tag);
       if
       :: head >= MESSAGES || tag != TAG_OF(head) -> skip
       :: else ->
#ifndef NO_LOCK
            swap(me, LOCK, 1, was);
            if
            :: was == 1 -> goto busy
            :: else
            fi;
#endif
#ifndef NO_LOOK_AGAIN
            get(me, HEAD, head);
            get(me, TAG + head % 2, tag);
#endif
            if
            :: head < MESSAGES && tag == TAG_OF(head) ->
#ifdef EARLY_HEAD
                 put(me, HEAD, head + 1);
#endif
                 get(me, BYTES + head % 2, value);
                 d_step { assert(value == head + 1); assert(taken == head); taken++ };
#ifndef EARLY_HEAD
                 put(me, HEAD, head + 1);
#endif
                 skip
            :: else
            fi;
#ifndef NO_LOCK
            put(me, LOCK, 0);
#endif
            skip
       fi;
busy:  skip
  od
}

init { atomic { run drain(0); run drain(1); run drain(SENDER); run sender(); run poller(0); run poller(1) } }
