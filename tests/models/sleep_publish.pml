/* SPDX-License-Identifier: BSD-2-Clause */
/* Falling asleep against publishing. The sender publishes a message, then looks at ASLEEP and rings the bell (a packet
 * in the link's socket) if it could exchange ASLEEP to 0. The receiver stores ASLEEP, looks at the ring once more, and
 * waits for the bell. A wake-up that is lost leaves the receiver waiting for ever.
 * The sleeper pays: its membarrier() fences every sender, so a sender's look costs a plain load.
 * Words: RING (how much has been published) by the sender; ASLEEP stored by the sleeper, exchanged to 0 by the sender.
 *
 * accepted: LOCKED      no membarrier: both sides fence (kernels without it, and the ring of layout 4)
 * refused: NO_BARRIER   the sleeper fences itself alone
 * refused: SENDER_ONLY  the sender fences, the sleeper does not
 * refused: LOOK_FIRST   the sleeper's last look comes before it says that it sleeps
 * refused: BELL_FIRST   the sender looks at ASLEEP before it publishes */
#define THREADS 2
#define WORDS 2
#include "memory.pml"

#define RING 0
#define ASLEEP 1
#define SENDER 0
#define SLEEPER 1
#define MESSAGES 2

chan bell = [2] of { bit };

inline ring_if_asleep() {
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
}

active proctype sender() {
  byte number = 0;
  byte asleep;
  run drain(SENDER);
  run drain(SLEEPER);
  do
  :: number == MESSAGES -> break
  :: number < MESSAGES ->
       number++;
#ifdef BELL_FIRST
       ring_if_asleep();
#endif
       put(SENDER, RING, number);
#if defined(LOCKED) || defined(SENDER_ONLY)
       fence(SENDER);
#endif
#ifndef BELL_FIRST
       ring_if_asleep()
#endif
  od
}

active proctype sleeper() {
  byte seen = 0;
  byte now;
  do
  :: seen == MESSAGES -> break
  :: seen < MESSAGES ->
#ifdef LOOK_FIRST
       get(SLEEPER, RING, now);
#endif
       put(SLEEPER, ASLEEP, 1);
#if defined(LOCKED) || defined(NO_BARRIER)
       fence(SLEEPER);
#elif !defined(SENDER_ONLY)
       membarrier(SLEEPER);
#endif
#ifndef LOOK_FIRST
       get(SLEEPER, RING, now);
#endif
       if
       :: now == seen -> bell ? _
       :: else
       fi;
       put(SLEEPER, ASLEEP, 0);
       get(SLEEPER, RING, seen)
  od
}
