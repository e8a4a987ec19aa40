/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes to the result of an atomic operation that waits behind a send for which the server has no receive
 * yet. */
#define SERVER_RIGHTS (DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC)
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, 32);
  complete();
}

static void client(void) {
  DAT_LMR_TRIPLET result = part(0, 8);
  rule("early-access");
  post_send_at(64, 8, DAT_COMPLETION_DEFAULT_FLAG);
  remote.segment_length = 8;
  CHECK(dat_ib_post_fetch_and_add(ep, 1, &result, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
#ifdef WRONG
  memory[0] = 1;
#endif
  wake(to_server);
  complete();
  next_event(completions);
}
