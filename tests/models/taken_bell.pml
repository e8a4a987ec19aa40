/* SPDX-License-Identifier: BSD-2-Clause */
/* A poller that takes the bell of another thread's sleep. The engine thread says on the ring that it sleeps, looks at
 * the ring, and waits in the reactor. A poller may ask the kernel at any moment, take the bell and the message, and
 * then poll no more. The sender rings once for a sleeper, so the engine thread has to wake and say again that it sleeps;
 * else the next message stays where it is.
 * Words: RING by the sender; ASLEEP stored by the sleeper, exchanged to 0 by the sender. is_waiting, is_interrupted: the
 * reactor's, under the lock of its inbox. taken: with the baton.
 *
 * refused: LATE_ANNOUNCEMENT  the sleeper announces its wait after it has looked at the ring
 * refused: NO_INTERRUPT       the poller lets the sleeper wait
 * refused: EARLY_END          the end of a wait forgets an interrupt before the ring is looked at once more */
#define THREADS 2
#define WORDS 2
#include "memory.pml"

#define RING 0
#define ASLEEP 1
#define SENDER 0
#define SLEEPER 1
#define MESSAGES 2

chan bell = [2] of { bit };
bool is_waiting = false;
bool is_interrupted = false;
byte taken = 0;

active proctype sender() {
  byte number = 0;
  byte asleep;
  run drain(SENDER);
  run drain(SLEEPER);
  do
  :: number == MESSAGES -> break
  :: number < MESSAGES ->
       number++;
       put(SENDER, RING, number);
       fence(SENDER);
       get(SENDER, ASLEEP, asleep);
       if
       :: asleep == 1 ->
            swap(SENDER, ASLEEP, 0, asleep);
            if
            :: asleep == 1 -> bell ! 1
            :: else
            fi
       :: else
       fi
  od
}

/* One dispatch of the reactor, and a look at the ring. */
active proctype poller() {
  byte polls = 0;
  do
  :: polls == MESSAGES -> break
  :: polls < MESSAGES ->
       polls++;
       if
       :: atomic { nempty(bell) -> bell ? _;
#ifndef NO_INTERRUPT
            if
            :: is_waiting -> is_interrupted = true
            :: else
            fi
#endif
          }
       :: skip
       fi;
       d_step { taken = memory[RING] }
  od
}

active proctype sleeper() {
  byte now;
  byte seen = 0;
  do
  :: seen == MESSAGES -> break
  :: seen < MESSAGES ->
#ifndef LATE_ANNOUNCEMENT
       is_waiting = true;
#endif
       put(SLEEPER, ASLEEP, 1);
       fence(SLEEPER);
       get(SLEEPER, RING, now);
#ifdef LATE_ANNOUNCEMENT
       is_waiting = true;
#endif
#ifdef EARLY_END
       is_interrupted = false;
#endif
       if
       :: now == taken ->
            if
            :: atomic { nempty(bell) -> bell ? _ }
            :: is_interrupted -> skip
            :: taken == MESSAGES -> skip
            fi
       :: else
       fi;
       d_step { is_waiting = false; is_interrupted = false };
       put(SLEEPER, ASLEEP, 0);
       d_step { taken = memory[RING]; seen = taken }
  od
}
