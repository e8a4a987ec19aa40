/* SPDX-License-Identifier: BSD-2-Clause */
/* One statement a line would hide how short this is: clang-format has no part in it. */
/* clang-format off */
/* One process, two endpoints: connects to itself and writes a greeting by RDMA. cc hello.c $(pkg-config --cflags --libs dat2) */
#include <dat2/udat.h>
#include <stdio.h>
#include <stdlib.h>

#define OK(call) do { DAT_RETURN r = (call); if (r) { fprintf(stderr, "%s: %#x\n", #call, (unsigned)r); exit(1); } } while (0)

/* The next event, which must be this one. */
#define EXPECT(number) do { OK(dat_evd_wait(evd, 5000000, 1, &event, &more)); if (event.event_number != (number)) { \
  fprintf(stderr, "instead of %s came event %#x\n", #number, (unsigned)event.event_number); exit(1); } } while (0)

int main(void) {
  DAT_IA_HANDLE ia; DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd; DAT_PZ_HANDLE pz; DAT_EP_HANDLE a, b; DAT_PSP_HANDLE psp;
  DAT_LMR_HANDLE lmr; DAT_LMR_TRIPLET local; DAT_RMR_TRIPLET remote; DAT_REGION_DESCRIPTION region; DAT_IA_ATTR attr;
  DAT_EVENT event; DAT_COUNT more; DAT_DTO_COOKIE cookie = {0};
  static char memory[128] = "hello over RDMA"; /* the first half is sent into the second */

  OK(dat_ia_open("sim0", 8, &async, &ia));
  OK(dat_ia_query(ia, NULL, DAT_IA_FIELD_IA_ADDRESS_PTR, &attr, 0, NULL));
  OK(dat_pz_create(ia, &pz));
  OK(dat_evd_create(ia, 16, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG | DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &evd));
  OK(dat_ep_create(ia, pz, evd, evd, evd, NULL, &a));
  OK(dat_ep_create(ia, pz, evd, evd, evd, NULL, &b));
  region.for_va = memory;
  OK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr,
                    &local.lmr_context, &remote.rmr_context, NULL, NULL));
  OK(dat_psp_create(ia, 4711, evd, DAT_PSP_CONSUMER_FLAG, &psp));
  OK(dat_ep_connect(a, attr.ia_address_ptr, 4711, 5000000, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
  EXPECT(DAT_CONNECTION_REQUEST_EVENT);
  OK(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, b, 0, NULL));
  EXPECT(DAT_CONNECTION_EVENT_ESTABLISHED); /* once for each endpoint */
  EXPECT(DAT_CONNECTION_EVENT_ESTABLISHED);
  local.virtual_address = (DAT_VADDR)(size_t)memory;
  remote.virtual_address = (DAT_VADDR)(size_t)(memory + 64);
  local.segment_length = remote.segment_length = 16;
  OK(dat_ep_post_rdma_write(a, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  EXPECT(DAT_DTO_COMPLETION_EVENT);
  if (event.event_data.dto_completion_event_data.status != DAT_DTO_SUCCESS) {
    fprintf(stderr, "the write failed: status %d\n", (int)event.event_data.dto_completion_event_data.status);
    return 1;
  }
  printf("%s\n", memory + 64);
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
