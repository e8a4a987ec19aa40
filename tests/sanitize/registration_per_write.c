/* SPDX-License-Identifier: BSD-2-Clause */
/* Each write registers a buffer of its own, and frees the LMR. */
#include "tidy.h"

static void server(void) {}

static void client(void) {
  int i;
  rule("registration-loop");
  for (i = 0; i < 40; ++i) {
#ifdef WRONG
    DAT_LMR_CONTEXT lkey;
    char* buffer = memory + i * SIZE;
    DAT_LMR_HANDLE made = register_memory(buffer, SIZE, pz, DAT_MEM_PRIV_LOCAL_READ_FLAG, &lkey, NULL);
    DAT_LMR_TRIPLET from = segment((DAT_VADDR)(uintptr_t)buffer, SIZE, lkey);
#else
    DAT_LMR_TRIPLET from = part(0, SIZE);
#endif
    CHECK(dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
    complete();
#ifdef WRONG
    CHECK(dat_lmr_free(made));
#endif
  }
}
