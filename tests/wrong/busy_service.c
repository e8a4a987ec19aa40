/* SPDX-License-Identifier: BSD-2-Clause */
/* The server takes no requests out of an EVD that has room for one, so that the second client is refused. */
#include "pair.h"

static DAT_CONN_QUAL busy;
static DAT_EVD_HANDLE requests;

static void server(void) {
  DAT_PSP_HANDLE other;
  CHECK(dat_evd_create(ia, 1, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
  CHECK(dat_psp_create_any(ia, &busy, requests, DAT_PSP_CONSUMER_FLAG, &other));
  if (write(to_client[1], &busy, sizeof busy) != (ssize_t)sizeof busy) _exit(1);
#ifndef WRONG
  {
    DAT_EVENT request = expect(requests, DAT_CONNECTION_REQUEST_EVENT);
    DAT_EP_HANDLE other_end;
    CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other_end));
    CHECK(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, other_end, 0, NULL));
    expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
    wake(to_client);
  }
#endif
  await(to_server);
}

static DAT_EP_HANDLE ask(void) {
  DAT_EP_HANDLE asking;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &asking));
  ep = asking;
  connect_to(busy);
  return asking;
}

static void client(void) {
  DAT_EP_HANDLE first = ep;
  if (read(to_client[0], &busy, sizeof busy) != (ssize_t)sizeof busy) _exit(1);
#ifdef WRONG
  tell(
      "DAT_CONNECTION_EVENT_NON_PEER_REJECTED: a program listens at 127.0.0.1, connection qualifier %llu, but takes no "
      "request now: the EVD of its service point is full",
      (unsigned long long)busy);
  tell("create that EVD with a longer queue (evd_min_qlen)");
  ask();
  ask();
  next_event(connections);
#else
  ask();
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
  /* The end of one connection may come before the beginning of another. */
  await(to_client);
#endif
  ep = first;
  wake(to_server);
}
