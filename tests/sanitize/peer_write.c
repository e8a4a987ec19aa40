/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes by RDMA into a receive that is outstanding at the server. */
#include "tidy.h"

static void server(void) {
  rule("overlap");
#ifdef WRONG
  post_receive_at(0, 8);
#else
  post_receive_at(32, 8);
#endif
  wake(to_client);
  complete();
}

static void client(void) {
  await(to_client);
  post_write(16);
  complete();
  post_send(8);
  complete();
}
