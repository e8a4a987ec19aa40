/* SPDX-License-Identifier: BSD-2-Clause */
/* DAT 1.2: the length is taken from an event that did not come. It has eight bytes, more than a segment may be long. */
#include <dat/udat.h>
#include <stdio.h>

static char memory[64];

int main(void) {
  DAT_IA_HANDLE ia;
  DAT_PZ_HANDLE pz;
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL, evd;
  DAT_EP_HANDLE ep;
  DAT_LMR_HANDLE lmr;
  DAT_RMR_CONTEXT key;
  DAT_REGION_DESCRIPTION region;
  DAT_LMR_TRIPLET to = {0};
  DAT_DTO_COOKIE cookie = {0};
  DAT_EVENT event;
  region.for_va = memory;
  to.virtual_address = (DAT_VADDR)(uintptr_t)memory;
  to.segment_length = sizeof memory;
  if (dat_ia_open("sim0", 8, &async, &ia) != DAT_SUCCESS || dat_pz_create(ia, &pz) != DAT_SUCCESS) return 1;
  if (dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd) != DAT_SUCCESS) return 1;
  if (dat_ep_create(ia, pz, evd, evd, DAT_HANDLE_NULL, NULL, &ep) != DAT_SUCCESS) return 1;
  if (dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof memory, pz, DAT_MEM_PRIV_ALL_FLAG, &lmr, &to.lmr_context,
                     &key, NULL, NULL) != DAT_SUCCESS) {
    return 1;
  }
  if (dat_evd_dequeue(evd, &event) == DAT_SUCCESS) return 1;
#ifdef WRONG
  printf("rule void-field\n");
  to.segment_length = event.event_data.dto_completion_event_data.transfered_length;
#endif
  dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG);
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
