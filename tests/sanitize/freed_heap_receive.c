/* SPDX-License-Identifier: BSD-2-Clause */
/* The buffer of a receive is of malloc(), and is freed before the message comes. */
#define RECEIVES 0
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_send(64);
  complete();
}

static void client(void) {
  char* heap = malloc(64);
  DAT_LMR_TRIPLET to = {.virtual_address = (DAT_VADDR)(uintptr_t)heap, .segment_length = 64};
  DAT_RMR_CONTEXT unused;
  rule("early-access");
  register_memory(heap, 64, pz, DAT_MEM_PRIV_ALL_FLAG, &to.lmr_context, &unused);
  CHECK(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#ifdef WRONG
  free(heap);
#endif
  wake(to_server);
  complete();
#ifndef WRONG
  free(heap);
#endif
}
