/* SPDX-License-Identifier: BSD-2-Clause */
/* The client disconnects at once, although its send has found no receive. */
#ifdef WRONG
#define RECEIVES 0
#endif
#include "pair.h"

static void server(void) {}

static void client(void) {
  post_send(SIZE);
#ifdef WRONG
  tell("1 request was posted and not complete when the connection ended: flushed; the oldest is of kind send");
  CHECK(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG));
#endif
  complete_well();
}
