/* SPDX-License-Identifier: BSD-2-Clause */
/* The server disconnects first, and the client ends without having dequeued the completion of its write. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  CHECK(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
}

static void client(void) {
  DAT_COUNT waiting = 0;
  DAT_EVENT event;
  rule("ignored-completion");
  post_write(SIZE);
  while (waiting == 0) dat_evd_wait(completions, 1000, 2, &event, &waiting); /* counts the events and takes none */
  wake(to_server);
  await_end();
#ifndef WRONG
  complete();
#endif
#ifdef FREED
  CHECK(dat_ep_free(ep));
  CHECK(dat_evd_free(completions));
#endif
  close_all();
  exit(0);
}
