/* SPDX-License-Identifier: BSD-2-Clause */
/* A second request comes while the EVD of the service point holds the first. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_EVD_HANDLE requests;
  DAT_CONN_QUAL qualifier;
  DAT_PSP_HANDLE second_psp;
  DAT_EP_HANDLE callers[2];
  struct sockaddr_in address = host();
  int i;
#ifdef WRONG
  CHECK(dat_evd_create(ia, 1, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
#else
  CHECK(dat_evd_create(ia, 2, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
#endif
  CHECK(dat_psp_create_any(ia, &qualifier, requests, DAT_PSP_CONSUMER_FLAG, &second_psp));
  for (i = 0; i < 2; ++i) {
    CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &callers[i]));
    CHECK(dat_ep_connect(callers[i], (DAT_IA_ADDRESS_PTR)&address, qualifier, PATIENCE, 0, NULL, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG));
  }
#ifdef WRONG
  tell("a request to connect to connection qualifier %llu is refused", (unsigned long long)qualifier);
  tell("the EVD of the service point is full, 1 of 1");
  tell("the EVD of its service point is full of requests that are not answered yet"); /* what the caller says */
  expect(connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
#else
  for (i = 0; i < 2; ++i) {
    DAT_EVENT request = expect(requests, DAT_CONNECTION_REQUEST_EVENT);
    DAT_EP_HANDLE answerer;
    CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &answerer));
    CHECK(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, answerer, 0, NULL));
    expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
  }
#endif
}
