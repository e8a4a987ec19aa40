/* SPDX-License-Identifier: BSD-2-Clause */
/* A cookie is taken from an event that did not come. */
#define RECEIVES 1
#include "tidy.h"

static void server(void) {
  complete();
}

static void client(void) {
  DAT_EVENT event;
  DAT_DTO_COOKIE next = cookie;
  DAT_LMR_TRIPLET from = part(0, 8);
  rule("void-field");
  if (dat_evd_dequeue(completions, &event) == DAT_SUCCESS) return;
#ifdef WRONG
  next = event.event_data.dto_completion_event_data.user_cookie;
#endif
  CHECK(dat_ep_post_send(ep, 1, &from, next, DAT_COMPLETION_DEFAULT_FLAG));
  complete();
}
