/* SPDX-License-Identifier: BSD-2-Clause */
/* The client takes the address that Debian's /etc/hosts has for the name of the host, 127.0.1.1. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_EP_HANDLE other;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other));
#ifdef WRONG
  struct sockaddr_in address = host();
  address.sin_addr.s_addr = htonl(0x7f000101);
  tell("nobody listens at 127.0.1.1, connection qualifier %u", (unsigned)port);
  tell("This program's own adapter is at 127.0.0.1.");
  connect_from(other, address, PATIENCE);
  expect(connections, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
#endif
}
