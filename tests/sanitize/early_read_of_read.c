/* SPDX-License-Identifier: BSD-2-Clause */
/* The client stores into the sink of an RDMA read that is done, and whose completion it has not dequeued. */
#define SIZE PAGE
#define CLIENT_SIZE PAGE + 8
#define RECEIVES 1
#define RECEIVE_SIZE 8
#define MAPPED (2 * PAGE)
#include "tidy.h"

static void server(void) {
  complete();
  wake(to_client);
}

static void client(void) {
  rule("early-access");
  post_read_at(0, PAGE);
  post_send_at(PAGE, 8, DAT_COMPLETION_BARRIER_FENCE_FLAG);
  await(to_client);
#ifdef WRONG
  memory[PAGE - 1] = 1;
#endif
  complete();
  complete();
  memory[PAGE - 1] = 2;
}
