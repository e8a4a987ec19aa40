/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives for a shared queue: one ends behind its region, one has a key of nothing, one lies in memory that cannot be
 * written, one has more segments than the queue takes, and one is one too many. */
#define SHARED
#include "pair.h"

static void server(void) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address, SIZE, local.lmr_context);
  DAT_LMR_TRIPLET two[2] = {to, to};
  int i;
#ifdef WRONG
  DAT_LMR_TRIPLET wrong = to;
  DAT_LMR_CONTEXT read_only;
  DAT_RMR_CONTEXT unused;
  tell_range(local.virtual_address, SIZE + 1);
  tell("dat_srq_post_recv, called by server at shared_range.c:");
  tell("the region [%#zx, %#zx), 64 bytes with", (size_t)memory, (size_t)memory + SIZE);
  tell("it ends 1 byte too late");
  wrong.segment_length = SIZE + 1;
  REFUSED(dat_srq_post_recv(srq, 1, &wrong, cookie));
  tell("lmr_context %#x was never issued", local.lmr_context + 1);
  wrong = segment(local.virtual_address, SIZE, local.lmr_context + 1);
  REFUSED(dat_srq_post_recv(srq, 1, &wrong, cookie));
  register_memory(memory, SIZE, pz, DAT_MEM_PRIV_LOCAL_READ_FLAG, &read_only, &unused);
  tell("lmr_context %#x lacks the right of local write (DAT_MEM_PRIV_LOCAL_WRITE_FLAG)", read_only);
  wrong = segment(local.virtual_address, SIZE, read_only);
  REFUSED(dat_srq_post_recv(srq, 1, &wrong, cookie));
  tell("2 segments were given, and 1 is allowed");
  REFUSED(dat_srq_post_recv(srq, 2, two, cookie));
  tell("16 requests are outstanding, as many as the queue has room for");
  for (i = RECEIVES; i < 17; ++i) REFUSED(dat_srq_post_recv(srq, 1, &to, cookie));
#else
  for (i = RECEIVES; i < 16; ++i) CHECK(dat_srq_post_recv(srq, 1, &to, cookie));
#endif
  wake(to_client);
}

static void client(void) {
  await(to_client);
}
