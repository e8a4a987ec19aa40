/* SPDX-License-Identifier: BSD-2-Clause */
/* A handle is taken from an event that did not come. */
#define ALONE
#include "tidy.h"

static void client(void) {
  DAT_EVENT event;
  rule("void-field");
  event.event_data.dto_completion_event_data.ep_handle = ep;
  if (dat_evd_dequeue(completions, &event) == DAT_SUCCESS) return;
#ifdef WRONG
  dat_ep_disconnect(event.event_data.dto_completion_event_data.ep_handle, DAT_CLOSE_ABRUPT_FLAG);
#endif
}
