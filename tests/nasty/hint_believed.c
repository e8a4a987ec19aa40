/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that takes the EVD that dat_cno_wait returns for the one with the event. */
#include "loop.h"

/* The event that the CNO tells of. */
static DAT_EVENT take(void) {
  DAT_EVENT event, more;
  DAT_EVD_HANDLE evd;
  int i;
  for (;;) {
    CHECK(dat_cno_wait(cno, PATIENCE, &evd));
#ifdef WRONG
    hold(dat_evd_dequeue(evd, &event) == DAT_SUCCESS, "the EVD that the CNO names has no event");
    return event;
#else
    for (i = 0; i < PAIRS; ++i) {
      if (dat_evd_dequeue(pairs[i].receives, &event) != DAT_SUCCESS) continue;
      hold(dat_evd_dequeue(pairs[i].receives, &more) != DAT_SUCCESS, "there is one event too many");
      return event;
    }
#endif
  }
}

static void client(void) {
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    DAT_EVENT event;
    post_receive(round % 2);
    post_send(round % 2);
    event = take();
    hold(event.event_data.dto_completion_event_data.user_cookie.as_64 == (DAT_UINT64)(round % 2), "another message");
    next_event(sends);
  }
}
