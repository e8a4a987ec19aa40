/* SPDX-License-Identifier: BSD-2-Clause */
/* The address of the host is in the byte order of the processor. */
#define ALONE
#include "pair.h"

static void client(void) {
#ifdef WRONG
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = INADDR_LOOPBACK}};
  tell("no way leads to 1.0.0.127 (with its bytes in the other order, htonl, it is 127.0.0.1), connection qualifier");
  CHECK(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, 61234, 2 * SECONDS, 0, NULL, DAT_QOS_BEST_EFFORT,
                       DAT_CONNECT_DEFAULT_FLAG));
  next_event(connections);
#endif
}
