/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's own segment is one byte longer than its region. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET from = segment(local.virtual_address, SIZE, local.lmr_context);
#ifdef WRONG
  from.segment_length = CLIENT_SIZE + 1;
  remote.segment_length = CLIENT_SIZE + 1;
  tell("lmr_context 0x%x", local.lmr_context);
  tell_range(local.virtual_address, CLIENT_SIZE);
  tell_range(local.virtual_address, CLIENT_SIZE + 1);
  tell("ends 1 byte too late");
#endif
  REFUSED(dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
