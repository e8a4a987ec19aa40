/* SPDX-License-Identifier: BSD-2-Clause */
/* The client waits for a message, and has posted no receive. */
#include "tidy.h"

static void server(void) {
  post_send(8);
  wake(to_client);
  complete();
}

static void client(void) {
  DAT_EVENT event;
  DAT_COUNT more;
  rule("receive-not-posted");
#ifndef WRONG
  post_receive_at(0, 32);
#endif
  await(to_client);
#ifdef WRONG
  dat_evd_wait(completions, 200000, 1, &event, &more);
  post_receive_at(0, 32);
#endif
  CHECK(dat_evd_wait(completions, PATIENCE, 1, &event, &more));
}
