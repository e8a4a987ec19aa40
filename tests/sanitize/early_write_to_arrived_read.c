/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes to the buffer of a read whose data is there already, and whose completion it has not dequeued. */
#include "tidy.h"

static void server(void) {
  memset(memory, 7, SIZE);
  wake(to_client);
}

static void client(void) {
  DAT_COUNT waiting = 0;
  DAT_EVENT event;
  rule("early-access");
  await(to_client);
  post_read_at(0, 32);
  while (waiting == 0) dat_evd_wait(completions, 1000, 2, &event, &waiting); /* counts the events and takes none */
#ifdef WRONG
  memory[0] = 1;
#endif
  complete();
  memory[0] = 1;
}
