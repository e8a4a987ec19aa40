/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's region has one right, UNUSED, that is never used. */
#ifdef WRONG
#define CLIENT_RIGHTS DAT_MEM_PRIV_LOCAL_READ_FLAG | UNUSED
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
