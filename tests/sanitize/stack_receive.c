/* SPDX-License-Identifier: BSD-2-Clause */
/* A receive into a local variable of a function that has returned is still outstanding when the client disconnects. */
#include "tidy.h"

static void server(void) {}

static void receive_local(char* buffer) {
  DAT_LMR_CONTEXT lkey;
  DAT_LMR_TRIPLET to;
#ifdef WRONG
  char own[32];
  buffer = own;
#endif
  register_memory(buffer, 32, pz, DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, &lkey, NULL);
  to = segment((DAT_VADDR)(uintptr_t)buffer, 32, lkey);
  CHECK(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void client(void) {
  char outer[32];
  rule("stack-buffer");
  receive_local(outer);
  dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG);
  await_end();
  close_all();
  exit(0);
}
