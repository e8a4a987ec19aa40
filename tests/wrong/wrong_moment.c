/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls that the state of the endpoint forbids: what to do first is told. */
#include "pair.h"

static void server(void) {
#ifdef WRONG
  DAT_CR_HANDLE request = expect(connections, DAT_CONNECTION_REQUEST_EVENT).event_data.cr_arrival_event_data.cr_handle;
  tell("dat_cr_accept, called by server at wrong_moment.c:");
  tell("is CONNECTED; an endpoint has one connection at a time: create another endpoint (dat_ep_create)");
  REFUSED(dat_cr_accept(request, ep, 0, NULL));
  CHECK(dat_cr_reject(request, 0, NULL));
#endif
}

static void client(void) {
  DAT_EP_HANDLE idle;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &idle));
#ifdef WRONG
  struct sockaddr_in address = host();
  DAT_LMR_TRIPLET from = segment(local.virtual_address, 8, local.lmr_context);
  tell("is UNCONNECTED; connect it first, and wait for DAT_CONNECTION_EVENT_ESTABLISHED");
  REFUSED(dat_ep_post_send(idle, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  tell("is UNCONNECTED; it has no connection that can be ended so");
  REFUSED(dat_ep_disconnect(idle, DAT_CLOSE_GRACEFUL_FLAG));
  tell("is CONNECTED; disconnect it first (dat_ep_disconnect), and wait for DAT_CONNECTION_EVENT_DISCONNECTED");
  REFUSED(dat_ep_reset(ep));
  connect_from(idle, address, PATIENCE);
  expect(connections, DAT_CONNECTION_EVENT_PEER_REJECTED);
  tell("is DISCONNECTED; reset it before it is connected again (dat_ep_reset)");
  REFUSED(dat_ep_connect(idle, (DAT_IA_ADDRESS_PTR)&address, port, PATIENCE, 0, NULL, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG));
#endif
}
