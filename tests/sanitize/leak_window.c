/* SPDX-License-Identifier: BSD-2-Clause */
/* A window, a CNO, a service point and an EVD are left when the adapter is closed gracefully. */
#define ALONE
#include "tidy.h"

static void client(void) {
  DAT_RMR_HANDLE rmr;
  DAT_CNO_HANDLE cno;
  DAT_EVD_HANDLE software;
  rule("leak"); /* the RMR */
  rule("leak"); /* the CNO */
  rule("leak"); /* the PSP */
  rule("leak"); /* the EVD of the CNO */
  rule("leak"); /* the EVD of the PSP */
  rule("leak"); /* the PZ of the RMR */
  CHECK(dat_rmr_create(pz, &rmr));
  CHECK(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  CHECK(dat_evd_create(ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &software));
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  CHECK(dat_ep_free(ep));
  CHECK(dat_lmr_free(lmr));
  CHECK(dat_evd_free(completions));
#ifndef WRONG
  CHECK(dat_rmr_free(rmr));
  CHECK(dat_pz_free(pz));
  CHECK(dat_psp_free(psp));
  CHECK(dat_evd_free(software));
  CHECK(dat_cno_free(cno));
  CHECK(dat_evd_free(connections));
#endif
  dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG);
  exit(0);
}
