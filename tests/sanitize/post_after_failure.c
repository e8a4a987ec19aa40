/* SPDX-License-Identifier: BSD-2-Clause */
/* The client goes on to post after a completion that failed, before it dequeues the end of the connection. */
#include "tidy.h"

static void drain_and_end(void) {
  DAT_EVENT event;
  await_end();
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
  close_all();
  exit(0);
}

static void server(void) {
  drain_and_end();
}

static void client(void) {
  DAT_LMR_TRIPLET from = part(0, 8);
  rule("post-after-disconnect");
  remote.rmr_context ^= 0x100;
  post_write(SIZE);
  if (complete() == DAT_DTO_SUCCESS) return;
#ifdef WRONG
  dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG);
#else
  (void)from;
#endif
  drain_and_end();
}
