/* SPDX-License-Identifier: BSD-2-Clause */
/* The server posts a receive after it has dequeued the disconnect event. */
#include "tidy.h"

static void server(void) {
  await_end();
  rule("post-after-disconnect");
#ifdef WRONG
  post_receive_at(0, 8);
#endif
  close_all();
  exit(0);
}

static void client(void) {}
