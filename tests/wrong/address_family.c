/* SPDX-License-Identifier: BSD-2-Clause */
/* The address to connect to has no family. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  DAT_EP_HANDLE other;
  struct sockaddr_in address = host();
  address.sin_family = 0;
  tell("the address family is 0; allowed: AF_INET (%d) and AF_INET6 (%d)", AF_INET, AF_INET6);
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other));
  REFUSED(dat_ep_connect(other, (DAT_IA_ADDRESS_PTR)&address, port, PATIENCE, 0, NULL, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG));
#endif
}
