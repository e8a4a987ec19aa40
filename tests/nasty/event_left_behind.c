/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that takes one event each time its CNO wakes it, and leaves others that have come with it. */
#define ONE_EVD
#include "loop.h"

#define ONE_SECOND 1000000u
#define MESSAGES 8
#define LOOKS 16 /* at the CNO, after each message */

static int taken;

static void take(void) {
  DAT_EVENT event;
  while (dat_evd_dequeue(pairs[0].receives, &event) == DAT_SUCCESS) {
    ++taken;
#ifdef WRONG
    break;
#endif
  }
}

static void client(void) {
  DAT_EVD_HANDLE evd;
  int message, i;
  for (message = 0; message < MESSAGES; ++message) post_receive(0);
  for (message = 0; message < MESSAGES; ++message) {
    post_send(0);
    for (i = 0; i < LOOKS; ++i) {
      if (dat_cno_wait(cno, 0, &evd) == DAT_SUCCESS) take();
    }
  }
  for (message = 0; message < MESSAGES; ++message) next_event(sends);
  /* All events have come. */
  while (taken < MESSAGES && dat_cno_wait(cno, ONE_SECOND, &evd) == DAT_SUCCESS) take();
  hold(taken == MESSAGES, "events are left, and no wake-up comes for them");
}
