/* SPDX-License-Identifier: BSD-2-Clause */
/* The client polls an EVD that takes nothing but receives, and has posted none. */
#define RECEIVE_EVD
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_EVENT event;
  int i;
  rule("receive-not-posted");
#ifndef WRONG
  post_receive_at(0, 32);
#endif
  for (i = 0; i < 250; ++i) {
    if (dat_evd_dequeue(receives, &event) == DAT_SUCCESS) return;
    usleep(1000);
  }
}
