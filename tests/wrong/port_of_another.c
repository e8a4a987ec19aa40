/* SPDX-License-Identifier: BSD-2-Clause */
/* Another process listens at the port. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_PSP_HANDLE second;
#ifdef WRONG
  tell("(port_of_another) listens there already");
  REFUSED(dat_psp_create(ia, port, connections, DAT_PSP_CONSUMER_FLAG, &second));
#else
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &second));
#endif
}
