/* SPDX-License-Identifier: BSD-2-Clause */
/* The client reads with the key of its own memory. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  /* Its second key. The first one is the server's too in one start of 256, because keys have 8 bits that vary. */
  DAT_LMR_CONTEXT unused;
  register_memory(memory + CLIENT_SIZE, CLIENT_SIZE, pz, DAT_MEM_PRIV_ALL_FLAG, &unused, &remote.rmr_context);
  tell("rmr_context 0x%x was never issued", remote.rmr_context);
#endif
  post_read(SIZE);
  complete_well();
}
