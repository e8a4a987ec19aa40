/* SPDX-License-Identifier: BSD-2-Clause */
/* The server accepts a request after its client has given up. */
#include "pair.h"

static void server(void) {
#ifdef WRONG
  DAT_EP_HANDLE other;
  DAT_CR_HANDLE request = expect(connections, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data.cr_handle;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other));
  await(to_server);
  tell("the connection ends with DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR: the peer at 127.0.0.1");
  tell("gave up, or ended, before the accept was complete (endpoint %p, made by server at late_accept.c:", other);
  CHECK(dat_cr_accept(request, other, 0, NULL));
  expect(connections, DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR);
  wake(to_client);
#endif
}

static void client(void) {
#ifdef WRONG
  DAT_EP_HANDLE other;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other));
  connect_from(other, host(), SECONDS / 5);
  expect(connections, DAT_CONNECTION_EVENT_TIMED_OUT);
  wake(to_server);
  await(to_client);
#endif
}
