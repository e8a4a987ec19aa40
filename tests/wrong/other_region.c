/* SPDX-License-Identifier: BSD-2-Clause */
/* A segment to bind, to flush or to register again is of another region than the call says. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_RMR_HANDLE window;
  DAT_RMR_CONTEXT context;
  DAT_RMR_COOKIE none = {.as_64 = 0};
  DAT_LMR_TRIPLET bound = local, synced = local;
  DAT_REGION_DESCRIPTION source;
  DAT_LMR_HANDLE again;
  DAT_LMR_CONTEXT key_again;
  source.for_lmr_handle = lmr;
  CHECK(dat_rmr_create(pz, &window));
#ifdef WRONG
  DAT_LMR_CONTEXT other;
  DAT_RMR_CONTEXT unused;
  register_memory(memory + CLIENT_SIZE, CLIENT_SIZE, pz, DAT_MEM_PRIV_ALL_FLAG, &other, &unused);
  bound.lmr_context = other;
  tell("dat_rmr_bind, called by client at other_region.c:");
  tell("lmr_context of lmr_triplet is %#x, and that of lmr_handle is %#x", other, local.lmr_context);
  synced.segment_length = CLIENT_SIZE + 16;
  tell("segment 1 of local_segments leaves its region");
  tell_range(local.virtual_address, CLIENT_SIZE + 16);
  tell("lmr_context %#x is that of the region [%#zx, %#zx), 256 bytes, registered by register_memory at pair.h:",
       local.lmr_context, (size_t)memory, (size_t)memory + CLIENT_SIZE);
  source.for_lmr_handle = (DAT_LMR_HANDLE)pz;
  tell("for_lmr_handle of region_description, which DAT_MEM_TYPE_LMR asks for, is that of a PZ, made by open_all at");
#endif
  REFUSED(dat_rmr_bind(window, lmr, &bound, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, ep, none,
                       DAT_COMPLETION_SUPPRESS_FLAG, &context));
  REFUSED(dat_lmr_sync_rdma_read(ia, &synced, 1));
  REFUSED(dat_lmr_create(ia, DAT_MEM_TYPE_LMR, source, CLIENT_SIZE, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &again,
                         &key_again, NULL, NULL, NULL));
}
