/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that polls the last byte of a receive buffer, and takes the message to be there when that has come. */
#include "pair.h"

static void server(void) {
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    memset(memory + HALF, 0, MESSAGE);
    post_receive_behind(MESSAGE);
    wake(to_client);
#ifdef WRONG
    while (((volatile char*)memory)[HALF + MESSAGE - 1] != round) continue;
    hold(is_filled_with(memory + HALF, MESSAGE, (char)round), "the last byte is there before the others");
#endif
    next_completion();
    hold(is_filled_with(memory + HALF, MESSAGE, (char)round), "the receive completes before the message is there");
  }
}

static void client(void) {
  int round;
  for (round = 1; round <= ROUNDS; ++round) {
    await(to_client);
    memset(memory, round, MESSAGE);
    post_send(MESSAGE);
    next_completion();
  }
}
