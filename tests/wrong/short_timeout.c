/* SPDX-License-Identifier: BSD-2-Clause */
/* The timeout of a connect is meant in milliseconds, and is in microseconds. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_EP_HANDLE other;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other));
#ifdef WRONG
  tell("the timeout of 5 microseconds has passed, and 127.0.0.1, connection qualifier %u", (unsigned)port);
  tell("or give a longer timeout; it is in microseconds. See dat_ep_connect(3).");
  connect_from(other, host(), 5);
  expect(connections, DAT_CONNECTION_EVENT_TIMED_OUT);
#endif
}
