/* SPDX-License-Identifier: BSD-2-Clause */
/* The client sends from memory of another protection zone. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_PZ_HANDLE zone = pz;
  DAT_RMR_CONTEXT rkey;
  DAT_LMR_TRIPLET from = segment(local.virtual_address, SIZE, 0);
#ifdef WRONG
  CHECK(dat_pz_create(ia, &zone));
#endif
  register_memory(memory, SIZE, zone, DAT_MEM_PRIV_ALL_FLAG, &from.lmr_context, &rkey);
#ifdef WRONG
  tell("lmr_context 0x%x belongs to another protection zone", from.lmr_context);
#endif
  REFUSED(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
