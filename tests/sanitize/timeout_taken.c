/* SPDX-License-Identifier: BSD-2-Clause */
/* A time-out is taken for the completion of a receive, whose buffer is posted again. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
  await(to_server);
}

static void client(void) {
  DAT_EVENT event;
  DAT_COUNT more;
  rule("timeout-taken");
  post_receive_at(0, 32);
#ifdef WRONG
  dat_evd_wait(completions, 1000, 1, &event, &more);
  post_receive_at(0, 32);
  wake(to_server);
#else
  if (dat_evd_wait(completions, 1000, 1, &event, &more) == DAT_SUCCESS) return;
  wake(to_server);
#endif
  complete();
  wake(to_server);
}
