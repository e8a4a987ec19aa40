/* SPDX-License-Identifier: BSD-2-Clause */
/* The client never dequeues the completion of its write. */
#include "tidy.h"

static void server(void) {}

static void client(void) {
  rule("ignored-completion");
  post_write(SIZE);
#ifndef WRONG
  complete();
#endif
}
