/* SPDX-License-Identifier: BSD-2-Clause */
/* The server answers a request that it has answered already. */
#include "pair.h"

static void server(void) {
  DAT_EVENT request = expect(connections, DAT_CONNECTION_REQUEST_EVENT);
  DAT_CR_HANDLE cr = request.event_data.cr_arrival_event_data.cr_handle;
  DAT_EP_HANDLE other;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other));
  CHECK(dat_cr_accept(cr, other, 0, NULL));
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
#ifdef WRONG
  tell("cr_handle is that of a CR that was answered by server at answered_twice.c:");
  REFUSED(dat_cr_reject(cr, 0, NULL));
#endif
  wake(to_client);
  await(to_server);
}

static void client(void) {
  DAT_EP_HANDLE first = ep;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  connect_to(port);
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
  await(to_client);
  wake(to_server);
  CHECK(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED);
  ep = first;
}
