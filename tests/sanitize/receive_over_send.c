/* SPDX-License-Identifier: BSD-2-Clause */
/* A receive is posted into bytes that an outstanding send takes. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, SIZE);
  complete();
  post_send(8);
  complete();
}

static void client(void) {
  rule("overlap");
  post_send(8);
#ifdef WRONG
  post_receive_at(0, 64);
#else
  post_receive_at(64, 64);
#endif
  wake(to_server);
  complete();
  complete();
}
