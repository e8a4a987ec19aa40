/* SPDX-License-Identifier: BSD-2-Clause */
/* The same memory is registered and freed again and again. */
#define ALONE
#include "tidy.h"

static void client(void) {
  int i;
  DAT_LMR_HANDLE made = DAT_HANDLE_NULL;
  rule("registration-loop");
  for (i = 0; i < 100; ++i) {
#ifndef WRONG
    if (i > 0) continue;
#endif
    made = register_memory(memory, PAGE, pz, DAT_MEM_PRIV_ALL_FLAG, &local.lmr_context, &key);
#ifdef WRONG
    CHECK(dat_lmr_free(made));
#endif
  }
}
