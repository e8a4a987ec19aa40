/* SPDX-License-Identifier: BSD-2-Clause */
/* The client reads the buffer of a receive before it has dequeued the completion. */
#define CLIENT_SIZE PAGE
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
}

static void client(void) {
  rule("early-access");
  post_receive_at(0, PAGE);
#ifdef WRONG
  (void)*(volatile char*)(memory + 20);
#endif
  wake(to_server);
  complete();
  (void)*(volatile char*)(memory + 20);
}
