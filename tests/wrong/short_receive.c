/* SPDX-License-Identifier: BSD-2-Clause */
/* The server's receives are shorter than the client's message. */
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
