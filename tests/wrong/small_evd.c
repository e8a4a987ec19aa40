/* SPDX-License-Identifier: BSD-2-Clause */
/* The client's EVD has room for one completion, and it posts four requests before it takes any out. */
#ifdef WRONG
#define CLIENT_DTO_QLEN 1
#endif
#include "pair.h"

static void server(void) {}

static void client(void) {
  int i;
  for (i = 0; i < 4; ++i) {
    DAT_LMR_TRIPLET from = segment(local.virtual_address, SIZE, local.lmr_context);
    if (dat_ep_post_rdma_write(ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG) != DAT_SUCCESS) break;
  }
#ifdef WRONG
  tell("is full: 1 of 1");
  await_end();
  close_all();
  _exit(0);
#else
  for (i = 0; i < 4; ++i) complete_well();
#endif
}
