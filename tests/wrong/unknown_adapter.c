/* SPDX-License-Identifier: BSD-2-Clause */
/* The program opens an adapter that dat.conf does not name. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_IA_HANDLE other;
  DAT_EVD_HANDLE evd = DAT_HANDLE_NULL;
#ifdef WRONG
  char name[] = "softdat-none";
  tell("no adapter is named \"%s\"", name);
  tell("SOFTDAT_ANY_IA=1");
#else
  char name[] = "sim1";
#endif
  REFUSED(dat_ia_open(name, 8, &evd, &other));
#ifndef WRONG
  CHECK(dat_ia_close(other, DAT_CLOSE_ABRUPT_FLAG));
#endif
}
