/* SPDX-License-Identifier: BSD-2-Clause */
/* dat_ia_open is given a length below 0, and what is no EVD. */
#define ALONE
#include "pair.h"

static void open_other(DAT_COUNT length, DAT_EVD_HANDLE evd) {
  DAT_IA_HANDLE other;
  REFUSED(dat_ia_open("sim1", length, &evd, &other));
#ifndef WRONG
  CHECK(dat_ia_close(other, DAT_CLOSE_ABRUPT_FLAG));
#endif
}

static void client(void) {
#ifdef WRONG
  tell("argument 2, async_evd_min_qlen, is -3");
  tell(
      "dat_ia_open answered DAT_PROVIDER_NOT_FOUND: DAT 3.0 is asked for, and this library serves DAT 2.0; DAT 1.2 is "
      "<dat/udat.h> with -ldat, DAT 2.0 <dat2/udat.h> with -ldat2. See dat_ia_open(3).");
  open_other(-3, DAT_HANDLE_NULL);
  {
    DAT_IA_HANDLE other;
    DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
    REFUSED(dat_ia_openv("sim1", 8, &evd, &other, 3, 0, DAT_TRUE));
  }
#else
  open_other(8, DAT_HANDLE_NULL);
#endif
}
