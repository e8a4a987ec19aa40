/* SPDX-License-Identifier: BSD-2-Clause */
/* Small programs that work on the simulated adapter, each of which wants one thing that some device lacks. WANTS_X says
 * which. */
#if defined(WANTS_ATOMICS)
#define SERVER_RIGHTS (DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC)
#elif defined(WANTS_READ_SINK)
#define CLIENT_RIGHTS (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG)
#elif !defined(WANTS_IMMEDIATE) && !defined(WANTS_READ_AND_WRITE)
#define ALONE
#endif
#include "tests/wrong/pair.h"

#ifndef ALONE
static void server(void) {}
#endif

/* An endpoint with attributes that differ from the defaults in one value. */
#define WANT_ENDPOINT(change)                                                                           \
  do {                                                                                                  \
    DAT_EP_PARAM parameters_;                                                                           \
    DAT_EP_HANDLE other_;                                                                               \
    CHECK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &parameters_));                                            \
    parameters_.ep_attr.change;                                                                         \
    CHECK(dat_ep_create(ia, pz, completions, completions, connections, &parameters_.ep_attr, &other_)); \
  } while (0)

static void client(void) {
#if defined(WANTS_WINDOW)
  DAT_RMR_HANDLE window;
  CHECK(dat_rmr_create(pz, &window));
#elif defined(WANTS_SHARED) || defined(WANTS_SHARED_RESIZE)
  DAT_SRQ_ATTR shared = {.max_recv_dtos = 16, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT};
  CHECK(dat_srq_create(ia, pz, &shared, &srq));
#if defined(WANTS_SHARED_RESIZE)
  CHECK(dat_srq_resize(srq, 32));
#endif
#elif defined(WANTS_ATOMICS)
  DAT_LMR_TRIPLET to = segment(local.virtual_address, 8, local.lmr_context);
  remote.segment_length = 8;
  CHECK(dat_ib_post_fetch_and_add(ep, (DAT_UINT64)1, &to, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  expect(completions, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT);
#elif defined(WANTS_IMMEDIATE)
  DAT_LMR_TRIPLET from = segment(local.virtual_address, 8, local.lmr_context);
  CHECK(dat_ib_post_rdma_write_immed(ep, 1, &from, cookie, &remote, 7, DAT_COMPLETION_DEFAULT_FLAG));
  expect(completions, (DAT_EVENT_NUMBER)DAT_IB_DTO_EVENT);
#elif defined(WANTS_READ_SINK) || defined(WANTS_READ_AND_WRITE)
  post_read(8);
  complete_well();
  post_write(8);
  complete_well();
#elif defined(WANTS_READ_SEGMENTS)
  WANT_ENDPOINT(max_rdma_read_iov = 2);
#elif defined(WANTS_LONG_QUEUE)
  WANT_ENDPOINT(max_request_dtos = 20000);
#elif defined(WANTS_MANY_READS)
  WANT_ENDPOINT(max_rdma_read_in = 64);
#elif defined(WANTS_SEGMENTS)
  WANT_ENDPOINT(max_recv_iov = 20);
#elif defined(WANTS_DATAGRAMS)
  WANT_ENDPOINT(service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD);
#elif defined(WANTS_PRIVATE_DATA)
  static char data[100];
  struct sockaddr_in address = host();
  CHECK(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, 61234, PATIENCE, sizeof data, data, DAT_QOS_BEST_EFFORT,
                       DAT_CONNECT_DEFAULT_FLAG));
#elif defined(WANTS_LONG_EVD)
  DAT_EVD_HANDLE other;
  CHECK(dat_evd_create(ia, 100000, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &other));
#elif defined(WANTS_GROWING_EVD)
  CHECK(dat_evd_resize(completions, 4096));
#elif defined(WANTS_ZERO_BASED)
  DAT_REGION_DESCRIPTION region;
  DAT_LMR_HANDLE other;
  region.for_va = memory;
  CHECK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, PAGE, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_ZB, &other, NULL,
                       NULL, NULL, NULL));
#elif defined(WANTS_WINDOW_IF_THERE_ARE_SOME)
  DAT_RMR_HANDLE window;
  (void)dat_rmr_create(pz, &window);
#endif
}
