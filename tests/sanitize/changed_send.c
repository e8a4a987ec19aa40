/* SPDX-License-Identifier: BSD-2-Clause */
/* The client writes to the buffer of a send before it has dequeued the completion. */
#define RECEIVES 1
#include "tidy.h"

static void server(void) {
  complete();
}

static void client(void) {
  rule("changed-buffer");
  memory[3] = 'a';
  post_send(SIZE);
#ifndef WRONG
  complete();
#endif
  memory[3] = 'b';
#ifdef WRONG
  complete();
#endif
}
