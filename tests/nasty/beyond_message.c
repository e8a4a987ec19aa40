/* SPDX-License-Identifier: BSD-2-Clause */
/* A receive buffer that is read beyond the length of the message. */
#include "pair.h"

static void server(void) {
  DAT_VLEN length;
  memset(memory + HALF, 0, MESSAGE);
  post_receive_behind(MESSAGE);
  wake(to_client);
  length = next_completion().transfered_length;
#ifdef WRONG
  length = strnlen(memory + HALF, MESSAGE);
#endif
  hold(length == 5 && memcmp(memory + HALF, "hello", 5) == 0, "the text does not end where the message does");
}

static void client(void) {
  await(to_client);
  memcpy(memory, "hello", 5);
  post_send(5);
  next_completion();
}
