/* SPDX-License-Identifier: BSD-2-Clause */
/* The server polls memory for what the client writes by RDMA, and does not wait for the message behind it. */
#define SIZE (2 * PAGE)
#define CLIENT_SIZE SIZE
#define MAPPED SIZE
#define RECEIVES 1
#define RECEIVE_SIZE 8
#include "tidy.h"

static void server(void) {
  volatile char* const last = memory + SIZE - 1;
  rule("unordered-read");
  wake(to_client); /* the connection event was dequeued, too */
#ifdef WRONG
  while (*last == 0) usleep(1000);
#endif
  complete();
  while (*last == 0) usleep(1000);
}

static void client(void) {
  DAT_LMR_TRIPLET from = part(PAGE, PAGE);
  memset(memory + PAGE, 1, PAGE);
  await(to_client);
  remote.virtual_address += PAGE;
  remote.segment_length = PAGE;
  CHECK(dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  complete();
  usleep(100000);
  post_send(8);
  complete();
}
