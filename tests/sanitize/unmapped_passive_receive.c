/* SPDX-License-Identifier: BSD-2-Clause */
/* The server unmaps the buffer of a receive that no message ever fills; the client ends the connection. */
#define RECEIVES 0
#include "tidy.h"

static void server(void) {
  rule("unmapped-buffer");
  post_receive_at(0, 32);
#ifdef WRONG
  munmap(memory, PAGE);
#endif
  wake(to_client);
}

static void client(void) {
  await(to_client);
}
