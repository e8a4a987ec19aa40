/* SPDX-License-Identifier: BSD-2-Clause */
/* An EP is used after it was freed. */
#define ALONE
#include "tidy.h"

static void client(void) {
  rule("stale-handle");
  CHECK(dat_ep_free(ep));
#ifdef WRONG
  dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG);
#endif
}
