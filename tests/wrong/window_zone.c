/* SPDX-License-Identifier: BSD-2-Clause */
/* A window is made in another protection zone than the region that it is bound to. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_PZ_HANDLE zone = pz;
  DAT_RMR_HANDLE window;
  DAT_RMR_CONTEXT bound;
#ifdef WRONG
  CHECK(dat_pz_create(ia, &zone));
  tell("lmr_context 0x%x belongs to another protection zone (PZ) than the window (RMR)", local.lmr_context);
  tell("Create window and region in the same PZ. See dat_rmr_bind(3).");
#endif
  CHECK(dat_rmr_create(zone, &window));
  REFUSED(dat_rmr_bind(window, lmr, &local, DAT_MEM_PRIV_REMOTE_READ_FLAG, DAT_VA_TYPE_VA, ep, cookie,
                       DAT_COMPLETION_DEFAULT_FLAG, &bound));
#ifndef WRONG
  expect(completions, DAT_RMR_BIND_COMPLETION_EVENT);
#endif
}
