/* SPDX-License-Identifier: BSD-2-Clause */
/* The server unbinds its window before the client uses the first key. */
#include "pair.h"

static DAT_RMR_CONTEXT bind_window(DAT_RMR_HANDLE rmr, DAT_VLEN length) {
  DAT_LMR_TRIPLET part = segment(local.virtual_address, length, local.lmr_context);
  DAT_RMR_COOKIE rmr_cookie = {0};
  DAT_RMR_CONTEXT made = 0;
  CHECK(dat_rmr_bind(rmr, lmr, &part, DAT_MEM_PRIV_REMOTE_WRITE_FLAG, DAT_VA_TYPE_VA, ep, rmr_cookie,
                     DAT_COMPLETION_DEFAULT_FLAG, &made));
  expect(completions, DAT_RMR_BIND_COMPLETION_EVENT);
  return made;
}

static void server(void) {
  DAT_RMR_HANDLE rmr;
  DAT_RMR_CONTEXT rkey;
  CHECK(dat_rmr_create(pz, &rmr));
  rkey = bind_window(rmr, SIZE);
#ifdef WRONG
  bind_window(rmr, 0);
#endif
  if (write(to_client[1], &rkey, sizeof rkey) != (ssize_t)sizeof rkey) _exit(1);
}

static void client(void) {
  if (read(to_client[0], &remote.rmr_context, sizeof remote.rmr_context) != (ssize_t)sizeof remote.rmr_context)
    _exit(1);
#ifdef WRONG
  tell("rmr_context 0x%x is void since its window was unbound", remote.rmr_context);
#endif
  post_write(SIZE);
  complete_well();
}
