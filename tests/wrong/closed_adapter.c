/* SPDX-License-Identifier: BSD-2-Clause */
/* An EVD, an EP and the adapter itself are used after dat_ia_close. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_IA_HANDLE other;
  DAT_EVD_HANDLE none = DAT_HANDLE_NULL, evd;
  DAT_EVENT event;
  CHECK(dat_ia_open("sim1", 8, &none, &other));
  CHECK(dat_evd_create(other, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd));
#ifdef WRONG
  close_all();
  CHECK(dat_ia_close(other, DAT_CLOSE_ABRUPT_FLAG));
  tell("evd_handle is that of an EVD, made by client at closed_adapter.c:");
  tell("that was freed by client at closed_adapter.c:");
  tell("ep_handle is that of an EP, made by");
  tell("ia_handle is 0x1, which is that of no open adapter: dat_ia_close has ended it");
#endif
  (void)dat_evd_dequeue(evd, &event);
  REFUSED(dat_ep_free(ep));
  REFUSED(dat_pz_create(ia, &pz));
#ifndef WRONG
  CHECK(dat_ia_close(other, DAT_CLOSE_ABRUPT_FLAG));
#else
  exit(0);
#endif
}
