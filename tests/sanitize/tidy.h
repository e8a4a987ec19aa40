/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/wrong/pair.h for programs that the sanitizer watches. rule() says which rule the wrong program breaks. */
#ifndef SOFTDAT_TESTS_SANITIZE_TIDY_H
#define SOFTDAT_TESTS_SANITIZE_TIDY_H

#ifndef RECEIVES
#define RECEIVES 0
#endif
#include "../wrong/pair.h"

static void rule(const char* name) {
#ifdef WRONG
  tell("rule %s", name);
#else
  (void)name;
#endif
}

static DAT_LMR_TRIPLET part(DAT_VLEN offset, DAT_VLEN length) {
  return segment(local.virtual_address + offset, length, local.lmr_context);
}

static void post_receive_at(DAT_VLEN offset, DAT_VLEN length) {
  DAT_LMR_TRIPLET to = part(offset, length);
  CHECK(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void post_send_at(DAT_VLEN offset, DAT_VLEN length, DAT_COMPLETION_FLAGS flags) {
  DAT_LMR_TRIPLET from = part(offset, length);
  CHECK(dat_ep_post_send(ep, 1, &from, cookie, flags));
}

static void post_read_at(DAT_VLEN offset, DAT_VLEN length) {
  DAT_LMR_TRIPLET to = part(offset, length);
  DAT_RMR_TRIPLET from = remote;
  from.segment_length = length;
  CHECK(dat_ep_post_rdma_read(ep, 1, &to, cookie, &from, DAT_COMPLETION_DEFAULT_FLAG));
}

#endif
