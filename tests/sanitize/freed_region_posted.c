/* SPDX-License-Identifier: BSD-2-Clause */
/* The client posts a receive with the lmr_context of an LMR that it has freed. */
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET to = part(0, 32);
  rule("freed-region");
#ifdef WRONG
  CHECK(dat_lmr_free(lmr));
#else
  /* A window keeps the LMR from being freed, so it can be used. */
  DAT_RMR_HANDLE rmr;
  DAT_RMR_CONTEXT context;
  CHECK(dat_rmr_create(pz, &rmr));
  CHECK(dat_rmr_bind(rmr, lmr, &to, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_VA_TYPE_VA, ep, cookie,
                     DAT_COMPLETION_SUPPRESS_FLAG, &context));
  if (dat_lmr_free(lmr) == DAT_SUCCESS) exit(1);
  CHECK(dat_rmr_free(rmr));
#endif
  REFUSED(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}
