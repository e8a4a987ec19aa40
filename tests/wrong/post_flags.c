/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion flags that a post does not take, or that its endpoint was not made for. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_BARRIER_FENCE_FLAG;
  DAT_LMR_TRIPLET from = segment(local.virtual_address, 8, local.lmr_context);
#ifdef WRONG
  flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
  tell("dat_ep_post_send, called by client at post_flags.c:");
  tell(
      "completion_flags has DAT_COMPLETION_UNSIGNALLED_FLAG, and request_completion_flags of the attributes of "
      "endpoint %p, made by create_endpoint at pair.h:",
      ep);
  tell("dat_ep_post_rdma_write, called by client at post_flags.c:");
  tell("completion_flags has DAT_COMPLETION_SOLICITED_WAIT_FLAG, which this call does not take; it takes");
  tell("completion_flags has 0x400, which this call does not take; it takes DAT_COMPLETION_UNSIGNALLED_FLAG");
  REFUSED(dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_SOLICITED_WAIT_FLAG));
  REFUSED(dat_ep_post_recv(ep, 1, &from, cookie, (DAT_COMPLETION_FLAGS)0x400));
#endif
  REFUSED(dat_ep_post_send(ep, 1, &from, cookie, flags));
#ifndef WRONG
  complete_well();
#endif
}
