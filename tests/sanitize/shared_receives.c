/* SPDX-License-Identifier: BSD-2-Clause */
/* Two receives of a shared queue take the same bytes. */
#include "tidy.h"

static void server(void) {
  DAT_LMR_TRIPLET to = part(0, 32);
  DAT_SRQ_ATTR wanted = {.max_recv_dtos = 4, .max_recv_iov = 1, .low_watermark = 0};
  DAT_SRQ_HANDLE srq;
  rule("overlap");
  CHECK(dat_srq_create(ia, pz, &wanted, &srq));
  CHECK(dat_srq_post_recv(srq, 1, &to, cookie));
#ifdef WRONG
  CHECK(dat_srq_post_recv(srq, 1, &to, cookie));
#endif
}

static void client(void) {}
