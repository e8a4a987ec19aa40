/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that takes the size of the private data for what the peer sent. */
#include "loop.h"

static void client(void) {
  hold(pairs[0].greeting >= sizeof GREETING, "private data is missing");
#ifdef WRONG
  hold(pairs[0].greeting == sizeof GREETING, "there is more private data than the peer sent");
#endif
}
