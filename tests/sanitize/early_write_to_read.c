/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes to the buffer of a read that waits behind a send for which the server has no receive yet. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, 32);
  complete();
}

static void client(void) {
  rule("early-access");
  post_send_at(64, 8, DAT_COMPLETION_DEFAULT_FLAG);
  post_read_at(0, 32);
#ifdef WRONG
  memory[0] = 1;
#endif
  wake(to_server);
  complete();
  complete();
}
