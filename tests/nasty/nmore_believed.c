/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that takes the nmore of dat_evd_wait for all that there is. */
#include "loop.h"

static void client(void) {
  DAT_EVENT event;
  DAT_COUNT more, i, taken = 1;
  for (i = 0; i < 4; ++i) {
    post_receive(0);
    post_send(0);
    next_event(sends);
  }
  CHECK(dat_evd_wait(pairs[0].receives, PATIENCE, 1, &event, &more));
#ifdef WRONG
  for (; more > 0 && dat_evd_dequeue(pairs[0].receives, &event) == DAT_SUCCESS; --more) ++taken;
#else
  while (dat_evd_dequeue(pairs[0].receives, &event) == DAT_SUCCESS) ++taken;
#endif
  hold(taken == 4, "there are more events than nmore says");
}
