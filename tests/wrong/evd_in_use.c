/* SPDX-License-Identifier: BSD-2-Clause */
/* An EVD is freed before the endpoint whose events it takes, another before its service point, and a CNO before its
 * EVD. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_EVD_HANDLE requests;
  DAT_CNO_HANDLE cno;
  CHECK(dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno));
  CHECK(dat_evd_create(ia, 8, cno, DAT_EVD_CR_FLAG, &requests));
  CHECK(dat_psp_create_any(ia, &port, requests, DAT_PSP_CONSUMER_FLAG, &psp));
#ifdef WRONG
  tell("dat_evd_free, called by");
  tell("it is used by EP %#zx (connection events), made by create_endpoint at pair.h:", (size_t)ep);
  tell("it is used by EP %#zx (receive and request events), made by create_endpoint at pair.h:", (size_t)ep);
  tell("it is used by PSP %#zx, made by client at evd_in_use.c:", (size_t)psp);
  tell("it is used by EVD %#zx, made by client at evd_in_use.c:", (size_t)requests);
  tell("Free these first, or give them another CNO (dat_evd_modify_cno)");
#else
  CHECK(dat_ep_free(ep));
  CHECK(dat_psp_free(psp));
#endif
  REFUSED(dat_evd_free(connections));
  REFUSED(dat_evd_free(completions));
#ifdef WRONG
  REFUSED(dat_cno_free(cno));
#endif
  REFUSED(dat_evd_free(requests));
  REFUSED(dat_cno_free(cno));
}
