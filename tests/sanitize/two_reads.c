/* SPDX-License-Identifier: BSD-2-Clause */
/* Two reads store into the same bytes. */
#include "tidy.h"

static void server(void) {}

static void client(void) {
  rule("overlap");
  post_read_at(0, 32);
#ifndef WRONG
  complete();
#endif
  post_read_at(0, 32);
#ifdef WRONG
  complete();
#endif
  complete();
}
