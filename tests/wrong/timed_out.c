/* SPDX-License-Identifier: BSD-2-Clause */
/* The server takes no notice of the second request. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  DAT_EP_HANDLE first = ep;
  struct sockaddr_in address = host();
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  tell("has neither accepted nor rejected the request");
  CHECK(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, port, SECONDS / 10, 0, NULL, DAT_QOS_BEST_EFFORT,
                       DAT_CONNECT_DEFAULT_FLAG));
  expect(connections, DAT_CONNECTION_EVENT_TIMED_OUT);
  ep = first;
#endif
}
