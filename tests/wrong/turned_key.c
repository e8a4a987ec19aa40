/* SPDX-License-Identifier: BSD-2-Clause */
/* The key goes through htonl once too often. */
#include <arpa/inet.h>

#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell("with its bytes in the other order (htonl) it is 0x%x, that of the region", remote.rmr_context);
  remote.rmr_context = htonl(remote.rmr_context);
#endif
  post_write(SIZE);
  complete_well();
}
