/* SPDX-License-Identifier: BSD-2-Clause */
/* The client looks into the buffer of a receive whose message has come, and has not dequeued the completion. */
#define CLIENT_SIZE PAGE
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
  wake(to_client);
}

static void client(void) {
  rule("early-access");
  post_receive_at(0, PAGE);
  wake(to_server);
  await(to_client);
#ifndef WRONG
  complete();
#endif
  (void)*(volatile char*)memory;
#ifdef WRONG
  complete();
#endif
}
