/* SPDX-License-Identifier: BSD-2-Clause */
/* The client unmaps the buffer of a receive that no message ever fills. */
#include "tidy.h"

static void server(void) {}

static void client(void) {
  rule("unmapped-buffer");
  post_receive_at(0, 32);
#ifdef WRONG
  munmap(memory, PAGE);
#endif
}
