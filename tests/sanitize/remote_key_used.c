/* SPDX-License-Identifier: BSD-2-Clause */
/* A local segment has the rmr_context. */
#define RECEIVES 1
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET from = part(0, 8);
  DAT_EVENT event;
  rule("key-mixup");
#ifdef WRONG
  from.lmr_context = key;
#endif
  if (dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG) == DAT_SUCCESS) complete();
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
}
