/* SPDX-License-Identifier: BSD-2-Clause */
/* The handle was never filled in. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_PZ_HANDLE zone;
#ifdef WRONG
  DAT_IA_HANDLE adapter = DAT_HANDLE_NULL;
  tell("ia_handle is null (DAT_HANDLE_NULL)");
#else
  DAT_IA_HANDLE adapter = ia;
#endif
  REFUSED(dat_pz_create(adapter, &zone));
}
