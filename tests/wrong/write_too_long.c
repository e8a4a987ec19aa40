/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes one byte more than the region has. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell("rmr_context 0x%x", remote.rmr_context);
  tell_range(remote.virtual_address, SIZE);
  tell_range(remote.virtual_address, SIZE + 1);
  tell("ends 1 byte too late");
  post_write(SIZE + 1);
#else
  post_write(SIZE);
#endif
  complete_well();
}
