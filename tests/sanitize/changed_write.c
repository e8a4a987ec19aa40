/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes to the second segment of a write before it has dequeued the completion. */
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET from[2] = {part(0, 8), part(64, 8)};
  DAT_RMR_TRIPLET to = remote;
  rule("changed-buffer");
  to.segment_length = 16;
  CHECK(dat_ep_post_rdma_write(ep, 2, from, cookie, &to, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete();
#endif
  memory[71] = 1;
#ifdef WRONG
  complete();
#endif
}
