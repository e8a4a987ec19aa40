/* SPDX-License-Identifier: BSD-2-Clause */
/* Arguments that are mixed up: an EP where a PZ belongs. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_RMR_HANDLE rmr;
#ifdef WRONG
  DAT_PZ_HANDLE zone = (DAT_PZ_HANDLE)ep;
  tell("pz_handle is that of an EP, made by create_endpoint at pair.h:");
#else
  DAT_PZ_HANDLE zone = pz;
#endif
  REFUSED(dat_rmr_create(zone, &rmr));
}
