/* SPDX-License-Identifier: BSD-2-Clause */
/* The server unmaps the buffer of a receive before the message comes. */
#include "tidy.h"

static void server(void) {
  rule("unmapped-buffer");
  rule("async-unread"); /* the connection breaks */
  post_receive_at(0, SIZE);
#ifdef WRONG
  munmap(memory, PAGE);
#endif
  wake(to_client);
  complete();
}

static void client(void) {
  await(to_client);
  post_send(SIZE);
  complete();
}
