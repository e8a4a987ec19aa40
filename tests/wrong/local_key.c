/* SPDX-License-Identifier: BSD-2-Clause */
/* The client names its own memory by a wrong LMR context. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET from = segment(local.virtual_address, SIZE, local.lmr_context);
#ifdef WRONG
  from.lmr_context += 3;
  tell("lmr_context 0x%x was never issued", from.lmr_context);
#endif
  REFUSED(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
