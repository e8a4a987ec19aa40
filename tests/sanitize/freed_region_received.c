/* SPDX-License-Identifier: BSD-2-Clause */
/* The client frees the region of a receive while it is connected. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
}

static void client(void) {
  rule("freed-region");
  rule("async-unread"); /* the connection breaks */
#ifdef WRONG
  post_receive_at(0, SIZE);
  CHECK(dat_lmr_free(lmr));
  wake(to_server);
#else
  post_receive_at(0, SIZE);
  wake(to_server);
#endif
  complete();
#ifndef WRONG
  CHECK(dat_lmr_free(lmr));
#endif
}
