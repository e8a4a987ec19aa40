/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers may read the client's region, and never do. */
#ifdef WRONG
#define CLIENT_RIGHTS DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_REMOTE_READ_FLAG
#else
#define CLIENT_RIGHTS DAT_MEM_PRIV_LOCAL_READ_FLAG
#endif
#include "tidy.h"

static void server(void) {}

static void client(void) {
  rule("unused-right");
  post_write(SIZE);
  complete();
  CHECK(dat_lmr_free(lmr));
}
