/* SPDX-License-Identifier: BSD-2-Clause */
/* The rmr_context is taken from the completion of a receive whose sender invalidated none. */
#include "tidy.h"

static void finish(void) {
  DAT_EVENT event;
  await_end();
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
  close_all();
  exit(0);
}

static void server(void) {
  await(to_server);
  post_send(8);
  complete();
  finish();
}

static void client(void) {
  DAT_EVENT event;
  rule("void-field");
  post_receive_at(0, 8);
  wake(to_server);
  event = expect(completions, DAT_DTO_COMPLETION_EVENT);
#ifdef WRONG
  remote.rmr_context = event.event_data.dto_completion_event_data.rmr_context;
#else
  (void)event;
#endif
  post_write(8);
  complete_well();
#ifndef WRONG
  CHECK(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
#endif
  finish();
}
