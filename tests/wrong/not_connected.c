/* SPDX-License-Identifier: BSD-2-Clause */
/* The client sends before it connects. */
#ifdef WRONG
#define ALONE
#endif
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_LMR_TRIPLET from = segment(local.virtual_address, SIZE, local.lmr_context);
#ifdef WRONG
  tell("is UNCONNECTED");
#endif
  REFUSED(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
