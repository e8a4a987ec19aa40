/* SPDX-License-Identifier: BSD-2-Clause */
/* The client asks for a service that nobody offers. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  DAT_EP_HANDLE other;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other));
  ep = other;
  tell("nobody listens at 127.0.0.1, connection qualifier 61234");
  connect_to(61234);
  next_event(connections);
  _exit(0);
#endif
}
