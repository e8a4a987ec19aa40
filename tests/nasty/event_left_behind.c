/* SPDX-License-Identifier: BSD-2-Clause */
/* A program with a thread that takes one event each time its CNO wakes it, and leaves others that came with it. */
#define ONE_EVD
#define ROUNDS 8
#include "loop.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#define ONE_SECOND 1000000u
#define MOMENT 8000000 /* nanoseconds */
#define MESSAGES 2     /* of a round */

static sem_t taken; /* once for each event */

static void* take_events(void* nothing) {
  int left = MESSAGES * ROUNDS;
  while (left > 0) {
    DAT_EVENT event;
    DAT_EVD_HANDLE evd;
    DAT_RETURN woken = dat_cno_wait(cno, ONE_SECOND, &evd);
    while (left > 0 && dat_evd_dequeue(pairs[0].receives, &event) == DAT_SUCCESS) {
      --left;
      sem_post(&taken);
#ifdef WRONG
      hold(woken == DAT_SUCCESS, "an event is left, and no wake-up comes for it");
      break;
#endif
    }
  }
  return nothing;
}

/* Sends the next message when the thread has taken this one, or after a moment. */
static int send_and_await(void) {
  struct timespec end;
  post_send(0);
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += MOMENT;
  if (end.tv_nsec >= 1000000000) {
    end.tv_nsec -= 1000000000;
    ++end.tv_sec;
  }
  return sem_timedwait(&taken, &end) == 0;
}

static void client(void) {
  pthread_t taker;
  int round, i, done;
  sem_init(&taken, 0, 0);
  hold(pthread_create(&taker, NULL, take_events, NULL) == 0, "there is no thread");
  for (round = 0; round < ROUNDS; ++round) {
    for (i = 0; i < MESSAGES; ++i) post_receive(0);
    for (i = 0, done = 0; i < MESSAGES; ++i) done += send_and_await();
    for (i = 0; i < MESSAGES; ++i) next_event(sends);
    for (; done < MESSAGES; ++done) sem_wait(&taken);
  }
  pthread_join(taker, NULL);
}
