/* SPDX-License-Identifier: BSD-2-Clause */
/* A read stores into the buffer of an outstanding receive. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
}

static void client(void) {
  rule("overlap");
  post_receive_at(0, 64);
#ifdef WRONG
  post_read_at(32, 64);
#else
  post_read_at(64, 64);
#endif
  complete();
  wake(to_server);
  complete();
}
