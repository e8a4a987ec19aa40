/* SPDX-License-Identifier: BSD-2-Clause */
/* The server ends without disconnecting. */
#include "pair.h"

static void server(void) {
#ifdef WRONG
  _exit(0);
#else
  CHECK(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
#endif
}

static void client(void) {
#ifdef WRONG
  tell("ended without disconnecting");
#endif
  await_end();
  close_all();
  _exit(0);
}
