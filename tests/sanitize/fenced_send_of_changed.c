/* SPDX-License-Identifier: BSD-2-Clause */
/* A send takes what an outstanding read brings, which differs from what the memory held. The twin has a fence. */
#define RECEIVES 1
#include "tidy.h"

static void server(void) {
  complete();
}

static void client(void) {
  rule("missing-fence");
  memory[0] ^= 0x55;
  post_read_at(0, 32);
#ifdef WRONG
  post_send_at(0, 32, DAT_COMPLETION_DEFAULT_FLAG);
#else
  post_send_at(0, 32, DAT_COMPLETION_BARRIER_FENCE_FLAG);
#endif
  complete();
  complete();
}
