/* SPDX-License-Identifier: BSD-2-Clause */
/* Two atomic operations answer into the same word. */
#define SERVER_RIGHTS (DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC)
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET first = part(0, 8), second = part(8, 8);
  rule("overlap");
#ifdef WRONG
  second = first;
#endif
  remote.segment_length = 8;
  CHECK(dat_ib_post_fetch_and_add(ep, 1, &first, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  CHECK(dat_ib_post_fetch_and_add(ep, 1, &second, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  next_event(completions);
  next_event(completions);
}
