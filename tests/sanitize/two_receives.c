/* SPDX-License-Identifier: BSD-2-Clause */
/* Two receives are outstanding into overlapping bytes. */
#include "tidy.h"

static void server(void) {
  rule("overlap");
  post_receive_at(0, 32);
#ifdef WRONG
  post_receive_at(16, 32);
#else
  post_receive_at(32, 32);
#endif
  wake(to_client);
  complete();
  complete();
}

static void client(void) {
  await(to_client);
  post_send(8);
  complete();
  post_send(8);
  complete();
}
