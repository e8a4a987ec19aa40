/* SPDX-License-Identifier: BSD-2-Clause */
/* The receives of the server's shared receive queue are shorter than the client's message. */
#define SHARED
#ifdef WRONG
#define RECEIVE_SIZE 16
#endif
#include "pair.h"

static void server(void) {
  complete_well();
}

static void client(void) {
#ifdef WRONG
  tell("receive, posted by post_receive at pair.h");
  tell("the message has 64 bytes, and the receive has room for 16");
#endif
  post_send(SIZE);
  complete_well();
}
