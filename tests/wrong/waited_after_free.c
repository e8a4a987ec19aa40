/* SPDX-License-Identifier: BSD-2-Clause */
/* A freed EVD is waited on. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_EVD_HANDLE evd;
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
  CHECK(dat_evd_free(evd));
#ifdef WRONG
  {
    DAT_EVENT event;
    DAT_COUNT more;
    tell("dat_evd_wait, called by");
    tell("evd_handle is that of an EVD, made by");
    REFUSED(dat_evd_wait(evd, 0, 1, &event, &more));
  }
#endif
}
