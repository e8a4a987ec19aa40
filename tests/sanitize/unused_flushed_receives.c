/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives that no message ever fills are flushed, and dequeued as such. */
#include "tidy.h"

static void server(void) {
  rule("unused-receive");
#ifdef WRONG
  post_receive_at(0, 16);
  post_receive_at(16, 16);
#endif
  wake(to_client);
  await_end();
#ifdef WRONG
  complete();
  complete();
#endif
  close_all();
  exit(0);
}

static void client(void) {
  await(to_client);
}
