/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint for datagrams is used like one of a connection, and asks a server that does not answer it. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_EP_PARAM parameters;
  DAT_EP_HANDLE datagrams;
  DAT_LMR_TRIPLET from = segment(local.virtual_address, 8, local.lmr_context);
  CHECK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &parameters));
  parameters.ep_attr.service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, &parameters.ep_attr, &datagrams));
#ifdef WRONG
  struct sockaddr_in address = host();
  tell("is for datagrams (DAT_IB_SERVICE_TYPE_UD), which dat_ib_post_send_ud sends. See dat_ep_post_send(3).");
  REFUSED(dat_ep_post_send(datagrams, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  tell("the exchange for datagrams fails: the timeout has passed, and 127.0.0.1, connection qualifier %u",
       (unsigned)port);
  CHECK(dat_ep_connect(datagrams, (DAT_IA_ADDRESS_PTR)&address, port, SECONDS / 10, 0, NULL, DAT_QOS_BEST_EFFORT,
                       DAT_CONNECT_DEFAULT_FLAG));
  if (next_event(connections).event_number != (DAT_EVENT_NUMBER)DAT_IB_UD_CONNECTION_ERROR_EVENT) fail("event", 0);
#else
  (void)from;
#endif
}
