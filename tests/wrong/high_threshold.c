/* SPDX-License-Identifier: BSD-2-Clause */
/* More events are waited for than the EVD can hold. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_EVD_HANDLE evd;
  DAT_EVENT event;
  DAT_COUNT more, i;
  memset(&event, 0, sizeof event);
  event.event_number = DAT_SOFTWARE_EVENT;
  CHECK(dat_evd_create(ia, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
#ifdef WRONG
  tell("the threshold is 9, and the EVD holds");
  REFUSED(dat_evd_wait(evd, 0, 9, &event, &more));
#else
  for (i = 0; i < 4; ++i) CHECK(dat_evd_post_se(evd, &event));
  CHECK(dat_evd_wait(evd, 0, 4, &event, &more));
#endif
}
