/* SPDX-License-Identifier: BSD-2-Clause */
/* The address of the peer's memory was kept in 32 bits. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell("the upper 32 bits of the address are missing");
  remote.virtual_address = (unsigned)remote.virtual_address;
#endif
  post_write(SIZE);
  complete_well();
}
