/* SPDX-License-Identifier: BSD-2-Clause */
/* More receives than a shared queue has room for, of more segments than it takes. */
#define SHARED
#include "pair.h"

static void server(void) {
  DAT_LMR_TRIPLET to[2] = {segment(local.virtual_address, 8, local.lmr_context),
                           segment(local.virtual_address + 8, 8, local.lmr_context)};
#ifdef WRONG
  DAT_RETURN answer = DAT_SUCCESS;
  tell("dat_srq_post_recv, called by server at shared_full.c:");
  tell("2 segments were given, and 1 is allowed. Create the queue with a larger max_recv_iov.");
  REFUSED(dat_srq_post_recv(srq, 2, to, cookie));
  tell("or create the queue with more max_recv_dtos.");
  while (answer == DAT_SUCCESS) answer = dat_srq_post_recv(srq, 1, to, cookie);
#endif
  REFUSED(dat_srq_post_recv(srq, 1, to, cookie));
}

static void client(void) {}
