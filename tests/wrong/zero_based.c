/* SPDX-License-Identifier: BSD-2-Clause */
/* The addresses of a zero-based region are offsets, and the client gives an address. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_REGION_DESCRIPTION region;
  DAT_LMR_HANDLE based;
  DAT_LMR_CONTEXT lkey;
  DAT_RMR_CONTEXT rkey;
  DAT_LMR_TRIPLET from;
  region.for_va = memory;
  CHECK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB, &based, &lkey,
                       &rkey, NULL, NULL));
  from = segment(0, 64, lkey);
#ifdef WRONG
  from.virtual_address = local.virtual_address;
  tell("which it does not touch; the region is zero-based (DAT_VA_TYPE_ZB), so that an offset is wanted");
#endif
  REFUSED(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
#ifndef WRONG
  complete_well();
#endif
}
