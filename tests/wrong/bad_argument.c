/* SPDX-License-Identifier: BSD-2-Clause */
/* Flags of another call, and no place for what is returned. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_EVD_HANDLE evd;
  DAT_PSP_HANDLE other;
  DAT_EVD_HANDLE* place = &evd;
  DAT_PSP_FLAGS flags = DAT_PSP_CONSUMER_FLAG;
#ifdef WRONG
  tell("argument 5, evd_handle, is null: nowhere to write");
  tell("argument 4, psp_flags, is 0x20: unknown flags");
  place = NULL;
  flags = (DAT_PSP_FLAGS)DAT_EVD_DTO_FLAG;
#endif
  REFUSED(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, place));
  REFUSED(dat_psp_create_any(ia, &port, connections, flags, &other));
}
