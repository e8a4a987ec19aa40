/* SPDX-License-Identifier: BSD-2-Clause */
/* A send takes bytes that an outstanding receive fills. */
#define RECEIVES 1
#include "tidy.h"

static void server(void) {
  complete();
  post_send(8);
  complete();
}

static void client(void) {
  rule("overlap");
  post_receive_at(0, 64);
#ifdef WRONG
  post_send_at(0, 8, DAT_COMPLETION_DEFAULT_FLAG);
#else
  post_send_at(64, 8, DAT_COMPLETION_DEFAULT_FLAG);
#endif
  complete();
  complete();
}
