/* SPDX-License-Identifier: BSD-2-Clause */
/* The server does not look at its asynchronous EVD, which has an error. */
#include "tidy.h"

static void server(void) {
  rule("async-unread");
  await_end();
#ifndef WRONG
  next_event(async);
#endif
  close_all();
  exit(0);
}

static void client(void) {
  DAT_EVENT event;
  remote.rmr_context ^= 0x100;
  post_write(SIZE);
  complete();
  dat_evd_wait(async, 1000, 1, &event, &(DAT_COUNT){0});
  await_end();
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
  close_all();
  exit(0);
}
