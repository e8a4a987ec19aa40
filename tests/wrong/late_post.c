/* SPDX-License-Identifier: BSD-2-Clause */
/* A send is posted after the connection has ended. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  CHECK(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED);
  tell("dat_ep_post_send, called by post_send at pair.h:");
  tell("completes with DAT_DTO_ERR_FLUSHED: endpoint");
  tell("is DISCONNECTED. Post before the connection ends");
#endif
  post_send(8);
  complete_well();
#ifdef WRONG
  close_all();
  exit(0);
#endif
}
