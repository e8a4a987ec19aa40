/* SPDX-License-Identifier: BSD-2-Clause */
/* The target of the client's atomic operation is not aligned. */
#define SERVER_RIGHTS (DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC)
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address, 8, local.lmr_context);
  remote.segment_length = 8;
#ifdef WRONG
  remote.virtual_address += 4;
  tell("0x%llx, is not aligned to 8 bytes", (unsigned long long)remote.virtual_address);
#endif
  CHECK(dat_ib_post_fetch_and_add(ep, (DAT_UINT64)1, &to, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
#ifdef WRONG
  next_event(completions);
#else
  expect(completions, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT);
#endif
}
