/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that takes each wake-up of a CNO for one new event. */
#define ONE_EVD
#include "loop.h"

static void client(void) {
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    DAT_EVENT event;
    DAT_EVD_HANDLE evd;
    DAT_RETURN found;
    post_receive(0);
    post_send(0);
    do {
      CHECK(dat_cno_wait(cno, PATIENCE, &evd));
      found = dat_evd_dequeue(pairs[0].receives, &event);
#ifdef WRONG
      hold(found == DAT_SUCCESS, "the CNO wakes the program, and there is no event");
#endif
    } while (found != DAT_SUCCESS);
    hold(dat_evd_dequeue(pairs[0].receives, &event) != DAT_SUCCESS, "there is one event too many");
    next_event(sends);
  }
}
