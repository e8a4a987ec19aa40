/* SPDX-License-Identifier: BSD-2-Clause */
/* Two service points of one connection qualifier. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_PSP_HANDLE second;
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
#ifdef WRONG
  tell("this process listens there already");
#else
  CHECK(dat_psp_free(psp));
#endif
  REFUSED(dat_psp_create(ia, port, connections, DAT_PSP_CONSUMER_FLAG, &second));
}
