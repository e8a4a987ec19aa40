/* SPDX-License-Identifier: BSD-2-Clause */
/* One EVD of many objects is left when the adapter is closed abruptly. */
#define ALONE
#include "tidy.h"

static void client(void) {
  rule("leak");
  CHECK(dat_ep_free(ep));
  CHECK(dat_lmr_free(lmr));
  CHECK(dat_pz_free(pz));
#ifndef WRONG
  CHECK(dat_evd_free(connections));
#endif
  CHECK(dat_evd_free(completions));
}
