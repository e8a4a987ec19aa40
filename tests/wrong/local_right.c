/* SPDX-License-Identifier: BSD-2-Clause */
/* The client reads into memory that it registered without the right of local write. */
#ifdef WRONG
#define CLIENT_RIGHTS DAT_MEM_PRIV_LOCAL_READ_FLAG
#endif
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address, SIZE, local.lmr_context);
#ifdef WRONG
  tell("lmr_context 0x%x lacks the right of local write", local.lmr_context);
  tell_range(local.virtual_address, SIZE);
#endif
  REFUSED(dat_ep_post_rdma_read(ep, 1, &to, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
