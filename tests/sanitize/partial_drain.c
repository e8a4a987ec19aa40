/* SPDX-License-Identifier: BSD-2-Clause */
/* One event is dequeued for a wake-up of the CNO that stands for two. */
#define ALONE
#include "tidy.h"

static void client(void) {
  DAT_CNO_HANDLE cno;
  DAT_EVD_HANDLE software, woken;
  DAT_EVENT event;
  int i;
  rule("partial-drain");
  CHECK(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  CHECK(dat_evd_create(ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &software));
  for (i = 0; i < 2; ++i) {
    memset(&event, 0, sizeof event);
    event.event_number = DAT_SOFTWARE_EVENT;
    CHECK(dat_evd_post_se(software, &event));
  }
  CHECK(dat_cno_wait(cno, PATIENCE, &woken));
  CHECK(dat_evd_dequeue(software, &event));
#ifndef WRONG
  CHECK(dat_evd_dequeue(software, &event));
#endif
  dat_cno_wait(cno, 1000, &woken);
}
