/* SPDX-License-Identifier: BSD-2-Clause */
/* A program that takes the size of the private data for what the peer sent. */
#include "loop.h"

static void client(void) {
  DAT_PROVIDER_ATTR adapter;
  CHECK(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &adapter));
  hold(pairs[0].greeting >= (DAT_COUNT)sizeof GREETING, "private data is missing");
  hold(pairs[0].greeting <= adapter.max_private_data_size, "there is more private data than the adapter can take");
#ifdef WRONG
  hold(pairs[0].greeting == (DAT_COUNT)sizeof GREETING, "there is more private data than the peer sent");
#endif
}
