/* SPDX-License-Identifier: BSD-2-Clause */
/* A wait on a CNO ends by its time-out, and the program takes that for the completion of a receive. */
#include "tidy.h"

static DAT_CNO_HANDLE cno;

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
  await(to_server);
}

static void client(void) {
  DAT_EVD_HANDLE woken;
  DAT_EVENT event;
  rule("timeout-taken");
  CHECK(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  CHECK(dat_evd_modify_cno(completions, cno));
  post_receive_at(0, 32);
#ifdef WRONG
  dat_cno_wait(cno, 1000, &woken);
  post_receive_at(0, 32);
  wake(to_server);
#else
  if (dat_cno_wait(cno, 1000, &woken) == DAT_SUCCESS) return;
  wake(to_server);
#endif
  CHECK(dat_cno_wait(cno, PATIENCE, &woken));
  CHECK(dat_evd_dequeue(completions, &event));
  wake(to_server);
}
