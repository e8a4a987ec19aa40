/* SPDX-License-Identifier: BSD-2-Clause */
/* The server's region lacks the right of remote atomics. */
#ifndef WRONG
#define SERVER_RIGHTS (DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC)
#endif
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address, 8, local.lmr_context);
  remote.segment_length = 8;
#ifdef WRONG
  tell("rmr_context 0x%x lacks the right of remote atomic", remote.rmr_context);
#endif
  CHECK(dat_ib_post_fetch_and_add(ep, (DAT_UINT64)1, &to, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
#ifdef WRONG
  next_event(completions);
#else
  expect(completions, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT);
#endif
}
