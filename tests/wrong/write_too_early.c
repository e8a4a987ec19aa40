/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes from 16 bytes before the region. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell_range(remote.virtual_address, SIZE);
  remote.virtual_address -= 16;
  tell_range(remote.virtual_address, SIZE);
  tell("begins 16 bytes too early");
#endif
  post_write(SIZE);
  complete_well();
}
