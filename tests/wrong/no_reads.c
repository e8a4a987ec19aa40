/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's endpoint may not read. */
#ifdef WRONG
#define NO_READS(attributes) ((attributes)->max_rdma_read_out = 0)
#define EP_ATTRIBUTES NO_READS
#endif
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address, SIZE, local.lmr_context);
#ifdef WRONG
  tell("max_rdma_read_out is 0");
#endif
  REFUSED(dat_ep_post_rdma_read(ep, 1, &to, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
