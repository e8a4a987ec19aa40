/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that takes its request to have completed when the reply is there. */
#include "pair.h"

static void server(void) {
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    post_receive_behind(MESSAGE);
    wake(to_client);
    next_completion();
    post_send(MESSAGE);
    next_completion();
  }
}

static void client(void) {
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    DAT_DTO_COMPLETION_EVENT_DATA first, second;
    post_receive_behind(MESSAGE);
    await(to_client);
    cookie.as_64 = 7;
    post_send(MESSAGE);
    cookie.as_64 = 0;
    first = next_completion();
    second = next_completion();
#ifdef WRONG
    hold(first.user_cookie.as_64 == 7, "the reply completes before the request");
#endif
    hold(first.user_cookie.as_64 + second.user_cookie.as_64 == 7, "not one completion of each");
  }
}
