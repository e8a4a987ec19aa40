/* SPDX-License-Identifier: BSD-2-Clause */
/* An LMR is left when the adapter is closed gracefully. */
#define ALONE
#include "tidy.h"

static void client(void) {
  rule("leak"); /* the LMR */
  rule("leak"); /* the PZ, which cannot be freed before it */
  CHECK(dat_ep_free(ep));
#ifndef WRONG
  CHECK(dat_lmr_free(lmr));
  CHECK(dat_pz_free(pz));
#endif
  CHECK(dat_evd_free(connections));
  CHECK(dat_evd_free(completions));
  dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG);
#ifdef WRONG
  CHECK(dat_lmr_free(lmr));
  CHECK(dat_pz_free(pz));
  CHECK(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
#endif
  exit(0);
}
