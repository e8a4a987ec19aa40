/* SPDX-License-Identifier: BSD-2-Clause */
/* The server posts no receive for the client's send, until the client has waited for a while. */
#ifdef WRONG
#define RECEIVES 0
#endif
#ifndef CAUSE
#define CAUSE "waits 100 ms: the peer has posted no receive"
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
  tell(CAUSE);
  await_words();
  wake(to_server);
#endif
  complete_well();
}
