/* SPDX-License-Identifier: BSD-2-Clause */
/* A write takes the result of an outstanding atomic operation, without a fence. */
#define SERVER_RIGHTS (DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC)
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET result = part(0, 8);
  DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_BARRIER_FENCE_FLAG;
  rule("missing-fence");
#ifdef WRONG
  flags = DAT_COMPLETION_DEFAULT_FLAG;
#endif
  remote.segment_length = 8;
  CHECK(dat_ib_post_fetch_and_add(ep, 1, &result, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  CHECK(dat_ep_post_rdma_write(ep, 1, &result, cookie, &remote, flags));
  next_event(completions);
  next_event(completions);
}
