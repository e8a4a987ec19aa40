/* SPDX-License-Identifier: BSD-2-Clause */
/* The server frees its region and registers the memory anew; the client goes on with the first key. */
#include "pair.h"

static void server(void) {
#ifdef WRONG
  DAT_LMR_CONTEXT lkey;
  DAT_RMR_CONTEXT second;
  CHECK(dat_lmr_free(lmr));
  lmr = register_memory(memory, SIZE, pz, SERVER_RIGHTS, &lkey, &second);
  tell("rmr_context 0x%x was freed", key);
  tell("this memory is registered anew, with rmr_context 0x%x", second);
  tell("Tell the peer the rmr_context of each new registration.");
#endif
  wake(to_client);
}

static void client(void) {
  await(to_client);
  post_write(SIZE);
  complete_well();
}
