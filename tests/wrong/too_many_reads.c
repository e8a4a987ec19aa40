/* SPDX-License-Identifier: BSD-2-Clause */
/* An endpoint is to have more RDMA reads outstanding than the adapter allows. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_EP_PARAM parameters;
  DAT_EP_HANDLE other;
  CHECK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &parameters));
#ifdef WRONG
  tell("max_rdma_read_out is 100000, and the adapter takes 0 to %d", (int)parameters.ep_attr.max_rdma_read_out);
  parameters.ep_attr.max_rdma_read_out = 100000;
#endif
  REFUSED(dat_ep_create(ia, pz, completions, completions, connections, &parameters.ep_attr, &other));
}
