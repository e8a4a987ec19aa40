/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection request is used after it was rejected. */
#define ALONE
#include "tidy.h"

static void client(void) {
  DAT_EVENT event;
  DAT_CR_HANDLE request;
  rule("stale-handle");
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  connect_to(port);
  event = expect(connections, DAT_CONNECTION_REQUEST_EVENT);
  request = event.event_data.cr_arrival_event_data.cr_handle;
  CHECK(dat_cr_reject(request, 0, NULL));
#ifdef WRONG
  dat_cr_reject(request, 0, NULL);
#endif
  next_event(connections);
}
