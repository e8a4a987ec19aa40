/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection EVD of the endpoint takes no connection events. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_EP_HANDLE other;
#ifdef WRONG
  DAT_EVD_HANDLE evd = completions;
  tell("the EVD for CONN events");
  tell("evd_flags lack that stream");
#else
  DAT_EVD_HANDLE evd = connections;
#endif
  REFUSED(dat_ep_create(ia, pz, completions, completions, evd, NULL, &other));
}
