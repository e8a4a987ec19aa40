/* SPDX-License-Identifier: BSD-2-Clause */
/* The client frees the region of a send that has not completed. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, SIZE);
  wake(to_client);
  complete();
}

static void client(void) {
  rule("freed-region");
  post_send(SIZE);
#ifdef WRONG
  CHECK(dat_lmr_free(lmr));
  wake(to_server);
  await(to_client);
  complete();
#else
  wake(to_server);
  await(to_client);
  complete();
  CHECK(dat_lmr_free(lmr));
#endif
}
