/* SPDX-License-Identifier: BSD-2-Clause */
/* A shared receive queue is freed before the endpoint that takes receives from it, resized below what is posted, and
 * given a watermark that it cannot reach. */
#define SHARED
#define RECEIVES 4
#include "pair.h"

static void server(void) {
#ifdef WRONG
  tell("dat_srq_free, called by server at shared_in_use.c:");
  tell("it is used by EP %#zx, made by create_endpoint at pair.h:", (size_t)ep);
  tell("srq_max_recv_dto is 2, and 4 receives of the queue are outstanding");
  tell("low_watermark is 17, and 0 to 16, the max_recv_dtos of the queue, are allowed");
  REFUSED(dat_srq_free(srq));
  REFUSED(dat_srq_resize(srq, 2));
  REFUSED(dat_srq_set_lw(srq, 17));
#else
  CHECK(dat_srq_resize(srq, 4));
  CHECK(dat_srq_set_lw(srq, 4));
#endif
  wake(to_client);
}

static void client(void) {
  await(to_client);
}
