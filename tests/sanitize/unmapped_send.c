/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of a send is unmapped before the completion. */
#include "tidy.h"

static void server(void) {
  await(to_server);
  post_receive_at(0, 8);
  dat_evd_wait(completions, 100000, 1, &(DAT_EVENT){0}, &(DAT_COUNT){0});
}

static void client(void) {
  rule("unmapped-buffer");
  post_send_at(0, 8, DAT_COMPLETION_DEFAULT_FLAG);
#ifdef WRONG
  munmap(memory, MAPPED);
#endif
  wake(to_server);
  complete();
#ifndef WRONG
  munmap(memory, MAPPED);
#endif
}
