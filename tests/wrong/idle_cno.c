/* SPDX-License-Identifier: BSD-2-Clause */
/* A CNO is waited on that no EVD triggers. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_CNO_HANDLE cno;
  DAT_EVD_HANDLE triggered, evd;
  CHECK(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
#ifdef WRONG
  tell("dat_cno_wait, called by client at idle_cno.c:");
  tell("CNO %p has no EVD, so nothing can trigger it; give it to dat_evd_create", cno);
#else
  CHECK(dat_evd_create(ia, 8, cno, DAT_EVD_DTO_FLAG, &evd));
#endif
  if (DAT_GET_TYPE(dat_cno_wait(cno, 1000, &triggered)) != DAT_QUEUE_EMPTY) fail("dat_cno_wait", 0);
}
