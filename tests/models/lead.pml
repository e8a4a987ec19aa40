/* SPDX-License-Identifier: BSD-2-Clause */
/* Which thread waits in the carrier (simnic/engine_thread.h). Two threads of a program sleep for messages. One of them
 * leads: it waits in the carrier instead of the engine thread, which stands aside. The other one follows: it sleeps
 * until a turn wakes it. A turn of any thread takes the messages that have come and wakes those that they are for; if
 * there are none, it takes what else the peer wants. Never are two threads in the carrier's wait, and nothing that the
 * peer sends stays where it is: not while a thread sleeps for it, and not when no thread does.
 * Words, all sequentially consistent: LED by leaders; MODE and PARKED by the engine thread; FOLLOWERS by followers.
 * A rest that is timed may end at any moment; one that is parked ends when somebody ends it.
 *
 * refused: BLIND_WAIT      the engine thread does not look for a lead once it has said that it waits
 * refused: NO_END_OF_WAIT  a leader does not wait until the engine thread has left the carrier
 * refused: SILENT_END      a lead ends without a word to a parked engine thread
 * refused: EARLY_LOOK      the engine thread looks for the lead before it says that it parks
 * refused: LOST_NOTICE     a leader names its sleep after it has looked whether its message is there */

#define MESSAGES(thread) (2 - (thread))
#define TURNING 0
#define WAITING 1
#define ASIDE 2

bool led = false;
bool parked = false;
bool kicked = false;
bool rest_ended = false;  /* a notice for the engine thread in its rest */
bool interrupted = false; /* the carrier's wait is to end */
byte mode = TURNING;
byte followers = 0;
byte in_carrier = 0;
byte pending[2]; /* messages in the kernel, for each thread */
bool asks = false; /* the peer wants something of the adapter, for which no thread sleeps */
bool has_answered = false;
byte got[2];     /* as many have been taken by a turn */
byte used[2];    /* and these by the thread */
bool is_waiter[2];
bool sleeps_elsewhere[2];
bool is_notified[2];

#define something_pending (pending[0] + pending[1] > 0 || asks)
#define is_over (used[0] == MESSAGES(0) && used[1] == MESSAGES(1) && has_answered)

inline take(t) {
  if
  :: pending[t] > 0 ->
       got[t] = got[t] + pending[t];
       pending[t] = 0;
       if
       :: is_waiter[t] ->
            is_notified[t] = true;
            if
            :: sleeps_elsewhere[t] -> interrupted = true
            :: else
            fi
       :: else
       fi
  :: else
  fi
}

/* With the baton, so in one step. A turn that has taken messages leaves the rest to the next. */
inline turn() {
  d_step {
    if
    :: pending[0] + pending[1] > 0 -> take(0); take(1)
    :: else ->
         if
         :: asks -> asks = false; has_answered = true
         :: else
         fi
    fi
  }
}

inline kick() {
  kicked = true;
  if
  :: mode == WAITING -> interrupted = true
  :: mode == ASIDE -> rest_ended = true
  :: else
  fi
}

inline end_wait(t) {
  is_waiter[t] = false;
  is_notified[t] = false
}

inline wait_in_carrier() {
  d_step { in_carrier++; assert(in_carrier == 1) };
  (something_pending || interrupted || is_over);
  d_step { in_carrier--; interrupted = false }
}

active proctype sender() {
  byte sent[2];
  do
  :: sent[0] < MESSAGES(0) -> d_step { pending[0]++; sent[0]++ }
  :: sent[1] < MESSAGES(1) -> d_step { pending[1]++; sent[1]++ }
  :: sent[0] == MESSAGES(0) && sent[1] == MESSAGES(1) -> break
  od;
  asks = true
}

active [2] proctype program() {
  byte self = _pid - 1;
  bool leads;
  do
  :: used[self] == MESSAGES(self) -> break
  :: used[self] < MESSAGES(self) ->
       is_waiter[self] = true;
       if
       :: got[self] > used[self] -> d_step { end_wait(self); used[self]++ }
       :: else ->
            leads = false;
            /* begin_lead() */
            if
            :: followers == 0 ->
                 atomic { leads = !led; led = true }
            :: else
            fi;
            if
            :: leads ->
#ifndef NO_END_OF_WAIT
                 do
                 :: mode == WAITING -> interrupted = true; (mode != WAITING || is_over)
                 :: mode != WAITING -> break
                 :: is_over -> break
                 od;
#endif
#ifdef LOST_NOTICE
                 if
                 :: is_notified[self] -> skip
                 :: else -> sleeps_elsewhere[self] = true; wait_in_carrier()
                 fi;
#else
                 sleeps_elsewhere[self] = true;
                 if
                 :: is_notified[self] -> skip
                 :: else -> wait_in_carrier()
                 fi;
#endif
                 sleeps_elsewhere[self] = false;
                 /* end_lead() */
                 led = false;
                 if
                 :: followers != 0 -> kick()
#ifndef SILENT_END
                 :: followers == 0 ->
                      if
                      :: parked -> rest_ended = true
                      :: else
                      fi
#else
                 :: else
#endif
                 fi;
                 d_step { end_wait(self) };
                 turn()
            :: else ->
                 /* follow() */
                 followers++;
                 if
                 :: led -> skip
                 :: else ->
                      if
                      :: mode == ASIDE -> kick()
                      :: else
                      fi
                 fi;
                 (is_notified[self]);
                 followers--;
                 d_step { end_wait(self) }
            fi
       fi
  od
}

/* It has nothing to do once the program has all its messages. */
active proctype engine() {
  bool was_kicked;
  do
  :: is_over -> break
  :: else ->
       turn();
       mode = WAITING;
       atomic { was_kicked = kicked; kicked = false };
       if
#ifdef BLIND_WAIT
       :: !was_kicked -> wait_in_carrier()
#else
       :: !was_kicked && !led -> wait_in_carrier()
#endif
       :: else
       fi;
       mode = TURNING;
       if
       :: led && !was_kicked ->
            mode = ASIDE;
            do
            :: is_over -> break
            :: kicked -> kicked = false; break
            :: !kicked && !led -> break /* a timed rest has ended; where it finds the lead kept, the next one begins */
            :: !kicked && led ->
                 rest_ended = false;
                 if
                 :: kicked -> skip
                 :: else ->
#ifdef EARLY_LOOK
                      if
                      :: led -> parked = true; (rest_ended || is_over)
                      :: else
                      fi;
#else
                      parked = true;
                      if
                      :: led -> (rest_ended || is_over)
                      :: else
                      fi;
#endif
                      parked = false
                 fi
            od;
            mode = TURNING
       :: else
       fi
  od
}
