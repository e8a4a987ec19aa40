/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives that end behind their region, or begin before it. */
#define RECEIVES 0
#include "pair.h"

static void server(void) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address, SIZE, local.lmr_context);
#ifdef WRONG
  to.segment_length = SIZE + 8;
  tell("dat_ep_post_recv, called by server at receive_range.c:");
  tell_range(to.virtual_address, to.segment_length);
  tell("it ends 8 bytes too late");
  tell("it begins 4 bytes too early");
  tell("the region [%#zx, %#zx), 64 bytes with", (size_t)memory, (size_t)memory + SIZE);
  REFUSED(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  to = segment(local.virtual_address - 4, SIZE, local.lmr_context);
#endif
  REFUSED(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  wake(to_client);
}

static void client(void) {
  await(to_client);
}
