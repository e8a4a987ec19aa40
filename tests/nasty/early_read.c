/* SPDX-License-Identifier: BSD-2-Clause */
/* The target of an RDMA read that is used before the read has completed. */
#include "pair.h"

static void server(void) {
  memset(memory, 0x2a, MESSAGE);
  wake(to_client);
}

static void client(void) {
  await(to_client);
  memset(memory, 0, MESSAGE);
  post_read(MESSAGE);
#ifdef WRONG
  hold(is_filled_with(memory, MESSAGE, 0x2a), "the data is not there when the read has been posted");
#endif
  next_completion();
  hold(is_filled_with(memory, MESSAGE, 0x2a), "the data is not there when the read has completed");
}
