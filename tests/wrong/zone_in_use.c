/* SPDX-License-Identifier: BSD-2-Clause */
/* A protection zone is freed before what belongs to it. */
#define ALONE
#include "pair.h"

static void client(void) {
#ifdef WRONG
  tell("dat_pz_free, called by");
  tell("PZ_IN_USE");
  tell("it is used by EP %#zx, made by create_endpoint at pair.h:", (size_t)ep);
  tell("LMR %#zx, made by register_memory at pair.h:", (size_t)lmr);
  tell("Free these first");
#else
  CHECK(dat_ep_free(ep));
  CHECK(dat_lmr_free(lmr));
#endif
  REFUSED(dat_pz_free(pz));
}
