/* SPDX-License-Identifier: BSD-2-Clause */
/* Receives of an endpoint and a spare one share an EVD that has no room for all. */
#define DTO_QLEN 4
#include "tidy.h"

static void server(void) {}

static void client(void) {
  DAT_EP_HANDLE spare, first = ep;
  int i;
  rule("evd-too-small");
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &spare));
  for (i = 0; i < 3; ++i) post_receive_at((DAT_VLEN)(8 * i), 8);
  ep = spare;
#ifndef WRONG
  CHECK(dat_evd_resize(completions, 8));
#endif
  for (i = 3; i < 6; ++i) post_receive_at((DAT_VLEN)(8 * i), 8);
  ep = first;
}
