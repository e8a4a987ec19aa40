/* SPDX-License-Identifier: BSD-2-Clause */
/* A send takes a local variable of a function that has returned. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, 32);
  complete();
}

static void send_local(char* buffer) {
  DAT_LMR_CONTEXT lkey;
  DAT_LMR_TRIPLET from;
#ifdef WRONG
  char own[32] = "hello";
  buffer = own;
#endif
  register_memory(buffer, 32, pz, DAT_MEM_PRIV_LOCAL_READ_FLAG, &lkey, NULL);
  from = segment((DAT_VADDR)(uintptr_t)buffer, 32, lkey);
  CHECK(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void client(void) {
  char outer[32] = "hello";
  rule("stack-buffer");
  send_local(outer);
  wake(to_server);
  complete();
}
