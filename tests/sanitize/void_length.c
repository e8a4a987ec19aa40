/* SPDX-License-Identifier: BSD-2-Clause */
/* The length is taken from a completion that failed. */
#include "tidy.h"

static void server(void) {
  DAT_EVENT event;
  await_end();
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
  close_all();
  exit(0);
}

static void client(void) {
  DAT_EVENT event;
  DAT_LMR_TRIPLET to = part(0, 8);
  rule("void-field");
  remote.rmr_context ^= 0x100;
  post_write(SIZE);
  event = expect(completions, DAT_DTO_COMPLETION_EVENT);
  await_end();
#ifdef WRONG
  rule("post-after-disconnect");
  to.segment_length = (DAT_SEG_LENGTH)event.event_data.dto_completion_event_data.transfered_length;
  dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG);
#else
  (void)to;
#endif
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
  close_all();
  exit(0);
}
