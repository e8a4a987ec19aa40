/* SPDX-License-Identifier: BSD-2-Clause */
/* The client posts a receive with the lmr_context of an LMR that it has freed. */
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET to = part(0, 32);
  rule("freed-region");
#ifdef WRONG
  CHECK(dat_lmr_free(lmr));
#endif
  REFUSED(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}
