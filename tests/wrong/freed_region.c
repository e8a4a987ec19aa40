/* SPDX-License-Identifier: BSD-2-Clause */
/* The server frees its region before the client writes into it. */
#define RECEIVES 0
#include "pair.h"

static void server(void) {
#ifdef WRONG
  CHECK(dat_lmr_free(lmr));
#endif
  wake(to_client);
}

static void client(void) {
  await(to_client);
#ifdef WRONG
  tell("rmr_context 0x%x was freed", remote.rmr_context);
  tell_range(remote.virtual_address, SIZE);
#endif
  post_write(SIZE);
  complete_well();
}
