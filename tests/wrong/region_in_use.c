/* SPDX-License-Identifier: BSD-2-Clause */
/* A region is freed while a memory window is bound to it. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_RMR_HANDLE window;
  DAT_RMR_CONTEXT context;
  DAT_RMR_COOKIE none = {.as_64 = 0};
  CHECK(dat_rmr_create(pz, &window));
  CHECK(dat_rmr_bind(window, lmr, &local, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, ep, none, DAT_COMPLETION_DEFAULT_FLAG,
                     &context));
  expect(completions, DAT_RMR_BIND_COMPLETION_EVENT);
#ifdef WRONG
  tell("dat_lmr_free, called by client at region_in_use.c:");
  tell("LMR_IN_USE");
  tell("memory windows are bound to the region: RMR %#zx, made by client at region_in_use.c:", (size_t)window);
  tell("Free these first, or bind them to nothing");
#else
  CHECK(dat_rmr_free(window));
#endif
  REFUSED(dat_lmr_free(lmr));
}
