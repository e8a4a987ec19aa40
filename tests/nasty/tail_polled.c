/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that polls the last byte of an RDMA write, and takes the others to be there when that has come. */
#include "pair.h"

static void server(void) {
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    post_receive_behind(MESSAGE);
    wake(to_client);
#ifdef WRONG
    while (((volatile char*)memory)[MESSAGE - 1] != round) continue;
    hold(is_filled_with(memory, MESSAGE, (char)round), "the last byte is there before the others");
#endif
    next_completion();
    hold(is_filled_with(memory, MESSAGE, (char)round), "the send has come before the write");
  }
}

static void client(void) {
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    await(to_client);
    memset(memory, round, MESSAGE);
    post_write(MESSAGE);
    next_completion();
    post_send(0);
    next_completion();
  }
}
