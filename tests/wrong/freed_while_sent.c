/* SPDX-License-Identifier: BSD-2-Clause */
/* The client frees its region while a send from it waits for a receive. */
#define RECEIVES 0
#include "pair.h"

static void server(void) {
  await(to_server);
  post_receive(SIZE);
  wake(to_client);
  complete_well();
}

static void client(void) {
#ifdef WRONG
  post_send(SIZE);
  await_words(); /* it waits */
  CHECK(dat_lmr_free(lmr));
  tell("lmr_context 0x%x was freed", local.lmr_context);
  wake(to_server);
  await(to_client);
#else
  wake(to_server);
  await(to_client);
  post_send(SIZE);
#endif
  complete_well();
}
