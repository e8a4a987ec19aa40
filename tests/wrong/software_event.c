/* SPDX-License-Identifier: BSD-2-Clause */
/* A software event is posted on an EVD that takes none. */
#define ALONE
#include "pair.h"

#ifdef WRONG
#define FLAGS DAT_EVD_CONNECTION_FLAG
#else
#define FLAGS (DAT_EVD_CONNECTION_FLAG | DAT_EVD_SOFTWARE_FLAG)
#endif

static void client(void) {
  DAT_EVD_HANDLE evd;
  DAT_EVENT event;
  memset(&event, 0, sizeof event);
  event.event_number = DAT_SOFTWARE_EVENT;
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, FLAGS, &evd));
#ifdef WRONG
  tell("the EVD takes no software events; create it with DAT_EVD_SOFTWARE_FLAG");
#endif
  REFUSED(dat_evd_post_se(evd, &event));
}
