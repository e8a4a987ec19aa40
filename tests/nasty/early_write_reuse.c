/* SPDX-License-Identifier: BSD-2-Clause */
/* The source of an RDMA write that is filled anew before the write has completed. */
#include "pair.h"

static void server(void) {
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    post_receive_behind(MESSAGE);
    wake(to_client);
    next_completion();
    hold(is_filled_with(memory, MESSAGE, (char)round), "the write has bytes of the next one");
  }
}

static void client(void) {
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    await(to_client);
    memset(memory, round, MESSAGE);
    post_write(MESSAGE);
#ifdef WRONG
    memset(memory, 0x7f, MESSAGE);
#endif
    next_completion();
    memset(memory, 0x7f, MESSAGE);
    post_send(MESSAGE);
    next_completion();
  }
}
