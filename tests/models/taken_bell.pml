/* SPDX-License-Identifier: BSD-2-Clause */
/* A thread that polls meets a peer, or takes its bell, while the engine thread falls asleep. The engine thread says on
 * the rings that it knows that it sleeps, looks at them, and waits in the reactor. A poller may ask the kernel at any
 * moment, do what the engine thread would have waked for, and then poll no more. A sender rings once for a sleeper, so
 * the engine thread has to wake and say again that it sleeps; else the next message stays where it is.
 * Words: RING by the sender; ASLEEP stored by the sleeper, exchanged to 0 by the sender. is_waiting, is_interrupted: the
 * reactor's, under the lock of its inbox. is_known (the link is there), taken: with the baton.
 *
 * refused: LATE_ANNOUNCEMENT  the sleeper announces its wait after it has looked at the ring
 * refused: NO_INTERRUPT       the poller lets the sleeper wait
 * refused: EARLY_INTERRUPT    the poller ends the wait before it acts on what it has taken
 * refused: EARLY_END          a wait forgets an interrupt after it has been announced */
#define THREADS 2
#define WORDS 2
#include "memory.pml"

#define RING 0
#define ASLEEP 1
#define SENDER 0
#define SLEEPER 1
#define MESSAGES 2

chan bell = [3] of { bit };
bool is_waiting = false;
bool is_interrupted = false;
bool is_known = false;
byte taken = 0;

inline interrupt_waiter() {
  d_step {
    if
    :: is_waiting -> is_interrupted = true
    :: else
    fi
  }
}

/* Its first bell is the one by which the two meet. */
active proctype sender() {
  byte number = 0;
  byte asleep;
  run drain(SENDER);
  run drain(SLEEPER);
  bell ! 1;
  is_known;
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

/* A dispatch of the reactor, and a look at the ring. */
active proctype poller() {
  byte polls = 0;
  do
  :: polls == MESSAGES -> break
  :: polls < MESSAGES ->
       polls++;
       if
       :: nempty(bell) ->
            atomic {
              if
              :: nempty(bell) -> bell ? _
              :: else -> goto looked
              fi
            };
#ifdef EARLY_INTERRUPT
            interrupt_waiter();
#endif
            is_known = true;
#if !defined(EARLY_INTERRUPT) && !defined(NO_INTERRUPT)
            interrupt_waiter();
#endif
looked:     skip
       :: skip
       fi;
       d_step {
         if
         :: is_known -> taken = memory[RING]
         :: else
         fi
       }
  od
}

active proctype sleeper() {
  byte now;
  bool knows;
  do
  :: taken == MESSAGES -> break
  :: taken < MESSAGES ->
       now = taken;
#ifndef LATE_ANNOUNCEMENT
       is_waiting = true;
#endif
       knows = is_known;
       if
       :: knows ->
            put(SLEEPER, ASLEEP, 1);
            fence(SLEEPER);
            get(SLEEPER, RING, now)
       :: else
       fi;
#ifdef LATE_ANNOUNCEMENT
       is_waiting = true;
#endif
#ifdef EARLY_END
       is_interrupted = false;
#endif
       if
       :: !knows || now == taken ->
            if
            :: atomic { nempty(bell) -> bell ? _; is_known = true }
            :: is_interrupted -> skip
            :: taken == MESSAGES -> skip
            fi
       :: else
       fi;
       d_step { is_waiting = false; is_interrupted = false };
       if
       :: knows -> put(SLEEPER, ASLEEP, 0)
       :: else
       fi;
       d_step {
         if
         :: is_known -> taken = memory[RING]
         :: else
         fi
       }
  od
}
