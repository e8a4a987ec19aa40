/* SPDX-License-Identifier: BSD-2-Clause */
/* One byte in the middle of a large write changes before the completion. */
#define MAPPED (1 << 20)
#define SIZE MAPPED
#define CLIENT_SIZE MAPPED
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, 8);
  complete();
}

static void client(void) {
  DAT_LMR_TRIPLET from = part(8, SIZE - 8);
  rule("changed-buffer");
  post_send_at(0, 8, DAT_COMPLETION_DEFAULT_FLAG); /* for which there is no receive yet: the write waits behind it */
  remote.virtual_address += 8;
  remote.segment_length = SIZE - 8;
  CHECK(dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
#ifdef WRONG
  memory[SIZE / 2] = 1;
#endif
  wake(to_server);
  complete();
  complete();
  memory[SIZE / 2] = 1;
}
