/* SPDX-License-Identifier: BSD-2-Clause */
/* The client frees the region of a read that is outstanding. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, 8);
  dat_evd_wait(completions, 100000, 1, &(DAT_EVENT){0}, &(DAT_COUNT){0});
}

static void client(void) {
  static char other[PAGE];
  DAT_LMR_TRIPLET from = {.virtual_address = (DAT_VADDR)(uintptr_t)other, .segment_length = 8};
  DAT_RMR_CONTEXT unused;
  register_memory(other, sizeof other, pz, DAT_MEM_PRIV_ALL_FLAG, &from.lmr_context, &unused);
  rule("freed-region");
  CHECK(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  post_read_at(0, 32);
#ifdef WRONG
  CHECK(dat_lmr_free(lmr));
  wake(to_server);
#else
  wake(to_server);
#endif
  complete();
  complete();
#ifndef WRONG
  CHECK(dat_lmr_free(lmr));
#endif
}
