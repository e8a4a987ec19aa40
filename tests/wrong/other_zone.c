/* SPDX-License-Identifier: BSD-2-Clause */
/* The key is that of a region of another protection zone. */
#include "pair.h"

static void server(void) {
  DAT_PZ_HANDLE zone = pz;
  DAT_LMR_CONTEXT lkey;
  DAT_RMR_CONTEXT rkey;
#ifdef WRONG
  CHECK(dat_pz_create(ia, &zone));
#endif
  register_memory(memory, SIZE, zone, DAT_MEM_PRIV_ALL_FLAG, &lkey, &rkey);
  if (write(to_client[1], &rkey, sizeof rkey) != (ssize_t)sizeof rkey) _exit(1);
}

static void client(void) {
  if (read(to_client[0], &remote.rmr_context, sizeof remote.rmr_context) != (ssize_t)sizeof remote.rmr_context)
    _exit(1);
#ifdef WRONG
  tell("rmr_context 0x%x belongs to another protection zone", remote.rmr_context);
  tell_range(remote.virtual_address, SIZE);
#endif
  post_write(SIZE);
  complete_well();
}
