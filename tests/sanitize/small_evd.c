/* SPDX-License-Identifier: BSD-2-Clause */
/* The EVD has room for two completions, and four requests are outstanding. */
#define CLIENT_DTO_QLEN 2
#include "tidy.h"

static void server(void) {}

static void client(void) {
  int i;
  rule("evd-too-small");
#ifdef WRONG
  for (i = 0; i < 4; ++i) {
    DAT_LMR_TRIPLET from = part(0, SIZE);
    if (dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG) != DAT_SUCCESS) break;
  }
  rule("async-unread");
  await_end();
  close_all();
  exit(0);
#else
  for (i = 0; i < 4; ++i) {
    post_write(SIZE);
    complete();
  }
#endif
}
