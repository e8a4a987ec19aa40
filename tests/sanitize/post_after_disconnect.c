/* SPDX-License-Identifier: BSD-2-Clause */
/* The client posts a receive although it has disconnected. */
#include "tidy.h"

static void server(void) {}

static void client(void) {
  rule("post-after-disconnect");
#ifndef WRONG
  post_receive_at(0, 32);
#endif
  CHECK(dat_ep_disconnect(ep, DAT_CLOSE_ABRUPT_FLAG));
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED);
#ifdef WRONG
  post_receive_at(0, 32);
#endif
  complete();
  close_all();
  exit(0);
}
