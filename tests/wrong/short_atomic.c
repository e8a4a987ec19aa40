/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of an atomic has no room, and the target is missing. */
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  DAT_LMR_TRIPLET result = segment(local.virtual_address, 4, local.lmr_context);
  tell("dat_ib_post_fetch_and_add, called by client at short_atomic.c:");
  tell("an atomic takes 8 bytes on both sides; the local segment holds 4, and the remote range %llu",
       (unsigned long long)remote.segment_length);
  tell("argument 6, remote_iov");
  REFUSED(dat_ib_post_fetch_and_add(ep, 1, &result, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  result.segment_length = 8;
  REFUSED(dat_ib_post_fetch_and_add(ep, 1, &result, cookie, NULL, DAT_COMPLETION_DEFAULT_FLAG));
#endif
}
