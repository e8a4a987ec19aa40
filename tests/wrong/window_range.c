/* SPDX-License-Identifier: BSD-2-Clause */
/* The window is bound to half of the region, and the client writes into all of it. */
#include "pair.h"

static void server(void) {
  DAT_RMR_HANDLE rmr;
  DAT_RMR_CONTEXT rkey = 0;
  DAT_RMR_COOKIE rmr_cookie = {0};
#ifdef WRONG
  DAT_LMR_TRIPLET part = segment(local.virtual_address, SIZE / 2, local.lmr_context);
#else
  DAT_LMR_TRIPLET part = segment(local.virtual_address, SIZE, local.lmr_context);
#endif
  CHECK(dat_rmr_create(pz, &rmr));
  CHECK(dat_rmr_bind(rmr, lmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_VA_TYPE_VA, ep, rmr_cookie,
                     DAT_COMPLETION_DEFAULT_FLAG, &rkey));
  expect(completions, DAT_RMR_BIND_COMPLETION_EVENT);
  if (write(to_client[1], &rkey, sizeof rkey) != (ssize_t)sizeof rkey) _exit(1);
}

static void client(void) {
  if (read(to_client[0], &remote.rmr_context, sizeof remote.rmr_context) != (ssize_t)sizeof remote.rmr_context)
    _exit(1);
#ifdef WRONG
  tell("that of the window");
  tell_range(remote.virtual_address, SIZE / 2);
  tell("ends 32 bytes too late");
#endif
  post_write(SIZE);
  complete_well();
}
