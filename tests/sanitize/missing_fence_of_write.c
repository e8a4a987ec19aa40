/* SPDX-License-Identifier: BSD-2-Clause */
/* An RDMA write takes a part of what an outstanding read brings, without a fence. */
#define SIZE 128
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET from[2] = {part(0, 8), part(48, 32)};
  DAT_RMR_TRIPLET to = remote;
  DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_BARRIER_FENCE_FLAG;
  rule("missing-fence");
#ifdef WRONG
  flags = DAT_COMPLETION_DEFAULT_FLAG;
#endif
  post_read_at(32, 32);
  to.virtual_address += 64;
  to.segment_length = 40;
  CHECK(dat_ep_post_rdma_write(ep, 2, from, cookie, &to, flags));
  complete();
  complete();
}
