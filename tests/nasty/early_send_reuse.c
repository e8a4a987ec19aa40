/* SPDX-License-Identifier: BSD-2-Clause */
/* A send buffer that is filled anew before its send has completed. */
#include "pair.h"

static void server(void) {
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    post_receive_behind(MESSAGE);
    wake(to_client);
    next_completion();
    hold(is_filled_with(memory + HALF, MESSAGE, (char)round), "the message has bytes of the next one");
  }
}

static void client(void) {
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    await(to_client);
    memset(memory, round, MESSAGE);
    post_send(MESSAGE);
#ifdef WRONG
    memset(memory, 0x7f, MESSAGE);
#endif
    next_completion();
    memset(memory, 0x7f, MESSAGE);
  }
}
