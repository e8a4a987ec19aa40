/* SPDX-License-Identifier: BSD-2-Clause */
/* The client posts more segments than its endpoint takes. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET from[64];
  DAT_EP_PARAM parameters;
  DAT_COUNT count;
  int i;
  CHECK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &parameters));
  count = parameters.ep_attr.max_request_iov;
#ifdef WRONG
  ++count;
  tell("%d segments were given, and %d are allowed", (int)count, (int)count - 1);
#endif
  for (i = 0; i < (int)count; ++i) from[i] = segment(local.virtual_address, 1, local.lmr_context);
  REFUSED(dat_ep_post_send(ep, count, from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
