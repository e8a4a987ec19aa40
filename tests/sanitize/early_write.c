/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes to the buffer of a receive that is outstanding. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
}

static void client(void) {
  rule("early-access");
#ifndef WRONG
  memory[20] = 1;
#endif
  post_receive_at(0, 32);
#ifdef WRONG
  memory[20] = 1;
#endif
  wake(to_server);
  complete();
}
