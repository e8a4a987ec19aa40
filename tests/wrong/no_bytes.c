/* SPDX-License-Identifier: BSD-2-Clause */
/* A region of no bytes is registered. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_REGION_DESCRIPTION region;
  DAT_LMR_HANDLE made;
  DAT_LMR_CONTEXT lkey;
  DAT_VLEN length = SIZE;
  region.for_va = memory;
#ifdef WRONG
  length = 0;
  tell("a region of no bytes is asked for");
#endif
  REFUSED(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, length, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made,
                         &lkey, NULL, NULL, NULL));
}
