/* SPDX-License-Identifier: BSD-2-Clause */
/* The address of the peer's memory is in the wrong byte order. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell("which it does not touch; with its bytes in the other order (htobe64) it would lie there");
  remote.virtual_address = __builtin_bswap64(remote.virtual_address);
#endif
  post_write(SIZE);
  complete_well();
}
