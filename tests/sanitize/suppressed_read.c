/* SPDX-License-Identifier: BSD-2-Clause */
/* A send takes what a suppressed read brings, without a fence. The read may be over, but the client cannot know it. */
#define RECEIVES 1
#include "tidy.h"

static void server(void) {
  complete();
}

static void client(void) {
  DAT_LMR_TRIPLET to = part(0, 32);
  DAT_RMR_TRIPLET from = remote;
  rule("missing-fence");
  from.segment_length = 32;
  CHECK(dat_ep_post_rdma_read(ep, 1, &to, cookie, &from, DAT_COMPLETION_SUPPRESS_FLAG));
#ifdef WRONG
  post_send_at(0, 32, DAT_COMPLETION_DEFAULT_FLAG);
#else
  post_send_at(0, 32, DAT_COMPLETION_BARRIER_FENCE_FLAG);
#endif
  complete();
}
