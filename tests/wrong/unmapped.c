/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that is not mapped is registered. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_REGION_DESCRIPTION region;
  DAT_LMR_HANDLE made;
  DAT_LMR_CONTEXT lkey;
  region.for_va = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef WRONG
  munmap(region.for_va, PAGE);
  tell_range((DAT_VADDR)(uintptr_t)region.for_va, PAGE);
  tell("is not mapped throughout");
#endif
  REFUSED(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, PAGE, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made,
                         &lkey, NULL, NULL, NULL));
}
