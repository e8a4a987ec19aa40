/* SPDX-License-Identifier: BSD-2-Clause */
/* The client posts more receives than its endpoint has room for. */
#define MOST_RECEIVES(attributes) ((attributes)->max_recv_dtos = 8)
#define EP_ATTRIBUTES MOST_RECEIVES
#include "pair.h"

static void server(void) {}

static void client(void) {
  int i;
  DAT_LMR_TRIPLET to = segment(local.virtual_address, SIZE, local.lmr_context);
  for (i = 0; i < 8; ++i) CHECK(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#ifdef WRONG
  tell("8 requests are outstanding, as many as the queue has room for");
  REFUSED(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#endif
}
