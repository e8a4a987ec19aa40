/* SPDX-License-Identifier: BSD-2-Clause */
/* An EVD is made smaller than what waits in it. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_EVD_HANDLE evd;
  DAT_EVENT event;
  DAT_COUNT i;
  memset(&event, 0, sizeof event);
  event.event_number = DAT_SOFTWARE_EVENT;
  CHECK(dat_evd_create(ia, 64, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
  for (i = 0; i < 40; ++i) CHECK(dat_evd_post_se(evd, &event));
#ifdef WRONG
  tell("40 events or more wait in the EVD, and 8 are asked for");
#else
  for (i = 0; i < 40; ++i) CHECK(dat_evd_dequeue(evd, &event));
#endif
  REFUSED(dat_evd_resize(evd, 8));
}
