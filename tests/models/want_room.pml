/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting for room in a full ring. A poster of one process finds no room and later says so, while the engine thread of
 * that process may sleep already. Another poster may look at the reader's head in between, and send something small. The
 * reader in the other process makes room once, and rings for it if it sees the wish and the sleeper. The message has to
 * be written in the end, by a turn of the engine thread.
 * Words: HEAD by the reader; WISH and STOPPED (the process's own: 1 and the head at which the poster stopped) by the
 * poster, with the baton; ASLEEP stored by the sleeper, exchanged to 0 by the reader. seen: the head that the process
 * knows, guarded by its lock on the ring's tail.
 *
 * refused: NO_LOOK         the poster does not look for room again once it has told its wish
 * refused: LOOK_THEN_WISH  it looks again before it tells its wish
 * refused: NO_FENCE        it looks again while its wish is still in its store buffer
 * refused: NEWS_ALONE      it asks whether the head has moved, and not whether there is room
 * refused: EARLY_WISH      the reader looks for a wish before it makes room
 * refused: NO_INTERRUPT    the poster sees the room and lets the engine thread sleep */
#define THREADS 4
#define WORDS 4
#include "memory.pml"

#define HEAD 0
#define WISH 1
#define ASLEEP 2
#define STOPPED 3
#define POSTER 0
#define SLEEPER 1
#define READER 2
#define OTHER 3 /* the other poster, which stores nothing here */

chan bell = [2] of { bit };
bool is_interrupted = false;
bool is_written = false;
bit baton = 0;
bit tail = 0;
byte seen = 0;

active proctype poster() {
  byte head;
  run drain(POSTER);
  run drain(SLEEPER);
  run drain(READER);
  atomic { baton == 0 -> baton = 1 };
  atomic { tail == 0 -> tail = 1 };
  get(POSTER, HEAD, seen);
  if
  :: seen == 1 ->
       is_written = true;
       tail = 0
  :: else ->
       tail = 0;
       atomic { tail == 0 -> tail = 1 };
       put(POSTER, STOPPED, 1 + seen);
#ifdef LOOK_THEN_WISH
       get(POSTER, HEAD, head);
#endif
       put(POSTER, WISH, 1);
#ifndef NO_FENCE
       fence(POSTER);
#endif
#if !defined(NO_LOOK) && !defined(LOOK_THEN_WISH)
       get(POSTER, HEAD, head);
#endif
#ifndef NO_INTERRUPT
       if
#ifdef NEWS_ALONE
       :: head != seen -> is_interrupted = true
#else
       :: head != seen || seen == 1 -> is_interrupted = true
#endif
       :: else
       fi;
#endif
       fence(POSTER);
       tail = 0
  fi;
  baton = 0
}

active proctype other() {
  atomic { tail == 0 -> tail = 1 };
  get(OTHER, HEAD, seen);
  tail = 0
}

active proctype reader() {
  byte wish;
  byte asleep;
#ifdef EARLY_WISH
  get(READER, WISH, wish);
#endif
  put(READER, HEAD, 1);
  fence(READER);
#ifndef EARLY_WISH
  get(READER, WISH, wish);
#endif
  if
  :: wish == 1 ->
       swap(READER, ASLEEP, 0, asleep);
       if
       :: asleep == 1 -> bell ! 1
       :: else
       fi
  :: else
  fi
}

active proctype sleeper() {
  byte stopped;
  byte head;
  do
  :: is_written -> break
  :: else ->
       put(SLEEPER, ASLEEP, 1);
       fence(SLEEPER);
       get(SLEEPER, STOPPED, stopped);
       get(SLEEPER, HEAD, head);
       if
       :: stopped != 0 && head != stopped - 1
       :: else ->
            if
            :: bell ? _
            :: is_interrupted -> is_interrupted = false
            :: is_written
            fi
       fi;
       put(SLEEPER, ASLEEP, 0);
       atomic { baton == 0 -> baton = 1 };
       get(SLEEPER, STOPPED, stopped);
       get(SLEEPER, HEAD, head);
       if
       :: stopped != 0 && head == 1 -> is_written = true
       :: else
       fi;
       baton = 0
  od
}
