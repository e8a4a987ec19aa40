/* SPDX-License-Identifier: BSD-2-Clause */
/* A send takes what a read brings whose local side is a memory window, without a fence. */
#define RECEIVES 1
#include "tidy.h"

static void server(void) {
  complete();
}

static void client(void) {
  DAT_RMR_HANDLE rmr;
  DAT_RMR_TRIPLET to = {.virtual_address = local.virtual_address, .segment_length = 32};
  DAT_RMR_TRIPLET from = remote;
  DAT_LMR_TRIPLET bound = part(0, 64);
  DAT_RMR_COOKIE rmr_cookie = {.as_64 = 0};
  rule("missing-fence");
  CHECK(dat_rmr_create(pz, &rmr));
  CHECK(dat_rmr_bind(rmr, lmr, &bound, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, ep, rmr_cookie,
                     DAT_COMPLETION_DEFAULT_FLAG, &to.rmr_context));
  expect(completions, DAT_RMR_BIND_COMPLETION_EVENT);
  from.segment_length = 32;
  CHECK(dat_ep_post_rdma_read_to_rmr(ep, &to, cookie, &from, DAT_COMPLETION_DEFAULT_FLAG));
#ifdef WRONG
  post_send_at(0, 32, DAT_COMPLETION_DEFAULT_FLAG);
#else
  post_send_at(0, 32, DAT_COMPLETION_BARRIER_FENCE_FLAG);
#endif
  complete();
  complete();
}
