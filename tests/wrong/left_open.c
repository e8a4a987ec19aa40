/* SPDX-License-Identifier: BSD-2-Clause */
/* A graceful close while objects live. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_IA_HANDLE other;
  DAT_EVD_HANDLE none = DAT_HANDLE_NULL;
  DAT_PZ_HANDLE zone;
  CHECK(dat_ia_open("sim1", 8, &none, &other));
  CHECK(dat_pz_create(other, &zone));
#ifdef WRONG
  tell("these objects still live: PZ %p, made by client at left_open.c:", zone);
#else
  CHECK(dat_pz_free(zone));
#endif
  REFUSED(dat_ia_close(other, DAT_CLOSE_GRACEFUL_FLAG));
}
