/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection request is neither accepted nor rejected before the adapter is closed gracefully. */
#define ALONE
#include "tidy.h"

static void client(void) {
  DAT_EVENT request;
  DAT_CR_HANDLE asked;
  rule("leak");
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  connect_to(port);
  request = expect(connections, DAT_CONNECTION_REQUEST_EVENT);
  asked = request.event_data.cr_arrival_event_data.cr_handle;
#ifndef WRONG
  CHECK(dat_cr_reject(asked, 0, NULL));
  expect(connections, DAT_CONNECTION_EVENT_PEER_REJECTED);
#endif
  CHECK(dat_ep_free(ep));
  CHECK(dat_lmr_free(lmr));
  CHECK(dat_pz_free(pz));
  CHECK(dat_psp_free(psp));
  dat_evd_free(connections);
  CHECK(dat_evd_free(completions));
  dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG);
  exit(0);
}
