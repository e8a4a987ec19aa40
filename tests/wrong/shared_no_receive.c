/* SPDX-License-Identifier: BSD-2-Clause */
/* The client sends, and the server's shared receive queue is empty. */
#define SHARED
#ifdef WRONG
#define RECEIVES 0
#endif
#include "pair.h"

static void server(void) {
#ifdef WRONG
  await(to_server);
  post_receive(SIZE);
#endif
  complete_well();
}

static void client(void) {
  post_send(SIZE);
#ifdef WRONG
  tell("the shared receive queue is empty");
  await_words();
  wake(to_server);
#endif
  complete_well();
}
