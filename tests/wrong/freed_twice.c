/* SPDX-License-Identifier: BSD-2-Clause */
/* A region is freed twice. */
#define ALONE
#include "pair.h"

static void client(void) {
  CHECK(dat_lmr_free(lmr));
#ifdef WRONG
  tell("dat_lmr_free, called by");
  tell("lmr_handle is that of an LMR, made by");
  REFUSED(dat_lmr_free(lmr));
#endif
}
