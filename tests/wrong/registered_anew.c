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
  tell("; the memory is registered now with rmr_context 0x%x", second);
  tell("Tell the peer the rmr_context of each new registration.");
#endif
  wake(to_client);
}

static void client(void) {
#ifdef WRONG
  DAT_LMR_CONTEXT first, second;
  DAT_RMR_CONTEXT unused;
  DAT_LMR_HANDLE old = register_memory(memory + PAGE / 2, 64, pz, CLIENT_RIGHTS, &first, &unused);
  DAT_LMR_TRIPLET from = segment(local.virtual_address + PAGE / 2, 64, first);
  CHECK(dat_lmr_free(old));
  register_memory(memory + PAGE / 2, 64, pz, CLIENT_RIGHTS, &second, &unused);
  tell("dat_ep_post_send, called by client at registered_anew.c:");
  tell("lmr_context 0x%x was freed", first);
  tell("; the memory is registered now with lmr_context 0x%x", second);
  tell("Use the lmr_context of the present registration. See dat_ep_post_send(3).");
  REFUSED(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#endif
  await(to_client);
  post_write(SIZE);
  complete_well();
}
