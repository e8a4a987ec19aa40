/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's key is not the one that it was given. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell("0x%x", remote.rmr_context);
  remote.rmr_context ^= 1;
  tell("rmr_context 0x%x was never issued", remote.rmr_context);
  tell_range(remote.virtual_address, SIZE);
#endif
  post_write(SIZE);
  complete_well();
}
