/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives are posted that no message ever fills. */
#include "tidy.h"

static void server(void) {
#ifdef WRONG
  post_receive_at(32, 32);
#endif
  rule("unused-receive");
}

static void client(void) {
  post_write(SIZE / 2);
  complete();
}
