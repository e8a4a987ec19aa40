/* SPDX-License-Identifier: BSD-2-Clause */
/* The server frees the region of a shared receive while it is connected. That the endpoint has left the shared queue,
 * which the asynchronous EVD tells in the end, is no error. */
#define SHARED
#include "tidy.h"

static void server(void) {
  rule("freed-region");
  post_receive(SIZE);
#ifdef WRONG
  CHECK(dat_lmr_free(lmr));
#endif
  wake(to_client);
}

static void client(void) {
  await(to_client);
}
