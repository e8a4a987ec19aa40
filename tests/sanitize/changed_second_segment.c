/* SPDX-License-Identifier: BSD-2-Clause */
/* The second of two segments of a send changes before the completion. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, 16);
  complete();
}

static void client(void) {
  DAT_LMR_TRIPLET from[2] = {part(0, 8), part(100, 8)};
  rule("changed-buffer");
  CHECK(dat_ep_post_send(ep, 2, from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#ifdef WRONG
  memory[107] = 1;
#endif
  wake(to_server);
  complete();
  memory[107] = 1;
}
