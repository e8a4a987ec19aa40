/* SPDX-License-Identifier: BSD-2-Clause */
/* The pages of a receive are unmapped before the disconnect that ends it. Those of the twin are guarded then. */
#define MAPPED (2 * PAGE)
#define CLIENT_SIZE MAPPED
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
}

static void client(void) {
  rule("unmapped-buffer");
  post_receive_at(0, PAGE);
  post_receive_at(PAGE, PAGE);
  wake(to_server);
  complete();
#ifdef WRONG
  munmap(memory + PAGE, PAGE);
#endif
}
