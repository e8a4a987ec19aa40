/* SPDX-License-Identifier: BSD-2-Clause */
/* The client overwrites the buffer of a suppressed send before a later completion says that it is done. */
#define RECEIVES 0
#include "tidy.h"

static void server(void) {
  post_receive_at(0, 16);
  post_receive_at(16, 16);
  wake(to_client);
  complete();
  complete();
}

static void client(void) {
  rule("changed-buffer");
  await(to_client);
  post_send_at(0, 16, DAT_COMPLETION_SUPPRESS_FLAG);
#ifdef WRONG
  memory[0] = 1;
#endif
  post_send_at(16, 16, DAT_COMPLETION_DEFAULT_FLAG);
  complete();
  memory[0] = 1;
}
