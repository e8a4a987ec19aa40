/* SPDX-License-Identifier: BSD-2-Clause */
/* A send takes what an outstanding read brings, without a fence. */
#define RECEIVES 1
#include "tidy.h"

static void server(void) {
  complete();
}

static void client(void) {
  rule("missing-fence");
  post_read_at(0, 32);
#ifdef WRONG
  post_send_at(0, 32, DAT_COMPLETION_DEFAULT_FLAG);
#else
  post_send_at(0, 32, DAT_COMPLETION_BARRIER_FENCE_FLAG);
#endif
  complete();
  complete();
}
