/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory as x86 processors show it to each other (x86-TSO): each thread has a store buffer. A store becomes visible to
 * other threads later, in order; a load may overtake the thread's own earlier stores. Included by every model.
 *
 * The model defines THREADS and WORDS, starts `run drain(t)` for each thread that stores, and uses
 *   put(t, w, v)          a plain or release store
 *   get(t, w, r)          a plain or acquire load
 *   fence(t)              a full fence
 *   swap(t, w, v, r)      a locked exchange
 *   cas(t, w, old, v, ok) a locked compare and exchange
 *   membarrier(t)         a fence here, then one in every thread (MEMBARRIER_CMD_GLOBAL_EXPEDITED)
 * A thread that waits for ever is an invalid end state, which spin reports: so a lost wake-up needs no assertion. */

byte memory[WORDS];
byte pending[THREADS * WORDS]; /* stores of this thread to this word that only it sees */
byte newest[THREADS * WORDS];  /* the last of them */
chan buffer[THREADS] = [3] of { byte, byte };

proctype drain(byte of_thread) {
  byte word;
  byte value;
end:
  do
  :: atomic {
       buffer[of_thread] ? word, value;
       memory[word] = value;
       pending[of_thread * WORDS + word]--;
       word = 0;
       value = 0
     }
  od
}

inline put(t, w, v) {
  atomic {
    buffer[t] ! w, v;
    pending[(t) * WORDS + (w)]++;
    newest[(t) * WORDS + (w)] = v
  }
}

inline get(t, w, r) {
  d_step {
    if
    :: pending[(t) * WORDS + (w)] > 0 -> r = newest[(t) * WORDS + (w)]
    :: else -> r = memory[w]
    fi
  }
}

inline fence(t) { empty(buffer[t]) }

inline swap(t, w, v, r) {
  atomic {
    empty(buffer[t]);
    r = memory[w];
    memory[w] = v
  }
}

inline cas(t, w, old, v, ok) {
  atomic {
    empty(buffer[t]);
    ok = (memory[w] == old);
    if
    :: ok -> memory[w] = v
    :: else
    fi
  }
}

inline membarrier(t) {
  byte each = 0;
  fence(t);
  do
  :: each < THREADS -> empty(buffer[each]); each++
  :: else -> break
  od
}
