/* SPDX-License-Identifier: BSD-2-Clause */
/* An EP is used after it was freed. */
#define ALONE
#include "tidy.h"

static void client(void) {
  int i;
  rule("stale-handle");
  CHECK(dat_ep_free(ep));
  for (i = 0; i < 3; ++i) {
#ifdef WRONG
    dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
#endif
  }
}
