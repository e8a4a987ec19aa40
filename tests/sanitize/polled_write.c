/* SPDX-License-Identifier: BSD-2-Clause */
/* The server polls memory for what the client writes by RDMA, and does not wait for the message behind it. The
   sanitizer misses a poll between the arrival of the data and the guarding of the page (docs/SANITIZER.md), hence
   several rounds. */
#define SIZE (2 * PAGE)
#define CLIENT_SIZE SIZE
#define MAPPED SIZE
#define ROUNDS 5
#define RECEIVES 1
#define RECEIVE_SIZE 8
#include "tidy.h"

static void server(void) {
  volatile char* const last = memory + SIZE - 1;
  rule("unordered-read");
  for (char round = 1; round <= ROUNDS; ++round) {
    wake(to_client); /* the event before was dequeued, too */
#ifdef WRONG
    while (*last != round) usleep(1000);
#endif
    complete();
    while (*last != round) usleep(1000);
    if (round < ROUNDS) post_receive_at(0, RECEIVE_SIZE);
  }
}

static void client(void) {
  DAT_LMR_TRIPLET from = part(PAGE, PAGE);
  remote.virtual_address += PAGE;
  remote.segment_length = PAGE;
  for (char round = 1; round <= ROUNDS; ++round) {
    memset(memory + PAGE, round, PAGE);
    await(to_client);
    CHECK(dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
    complete();
    usleep(20000);
    post_send(8);
    complete();
  }
}
