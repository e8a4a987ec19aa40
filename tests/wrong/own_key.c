/* SPDX-License-Identifier: BSD-2-Clause */
/* The client reads with the key of its own memory. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  remote.rmr_context = key;
  tell("rmr_context 0x%x was never issued", key);
#endif
  post_read(SIZE);
  complete_well();
}
