/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's segment is longer than the remote range that it names. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET from = segment(local.virtual_address, SIZE, local.lmr_context);
#ifdef WRONG
  remote.segment_length = SIZE / 2;
  tell("the local segments hold 64 bytes, and the remote range 32");
#endif
  REFUSED(dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
