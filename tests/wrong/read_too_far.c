/* SPDX-License-Identifier: BSD-2-Clause */
/* The client reads from one byte behind the region's start, up to one byte behind its end. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell_range(remote.virtual_address, SIZE);
  remote.virtual_address += 1;
  tell_range(remote.virtual_address, SIZE);
  tell("ends 1 byte too late");
#endif
  post_read(SIZE);
  complete_well();
}
