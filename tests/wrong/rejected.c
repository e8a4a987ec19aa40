/* SPDX-License-Identifier: BSD-2-Clause */
/* The server rejects the second request. */
#include "pair.h"

static void server(void) {
  DAT_EVENT request;
  await(to_server);
#ifdef WRONG
  request = expect(connections, DAT_CONNECTION_REQUEST_EVENT);
  CHECK(dat_cr_reject(request.event_data.cr_arrival_event_data.cr_handle, 0, NULL));
#else
  (void)request;
#endif
}

static void client(void) {
  wake(to_server);
#ifdef WRONG
  {
    DAT_EP_HANDLE first = ep;
    CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
    tell("rejected the request");
    connect_to(port);
    next_event(connections);
    ep = first;
  }
#endif
}
