/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the adapter for exactly what dat_ia_query tells, and for one more. Prints "NAME LIMIT" for each limit that is
 * kept exactly, and "wrong: ..." for each other. Objects are counted where there are few of them. */
#include <dat2/udat.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostObjects = 10000, kMostQueue = 1 << 20, kMostMessage = 64 << 20, kPage = 4096 };
#define PATIENCE 60000000u

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_IA_ATTR limits;
static DAT_PROVIDER_ATTR provider;
static int failures;
static char page[kPage];
static const DAT_HANDLE none = DAT_HANDLE_NULL;

static void wrong(const char* name, const char* what, unsigned long long asked, unsigned answer) {
  printf("wrong: %s: %s %llu is answered %#x\n", name, what, asked, answer);
  ++failures;
}

static unsigned type_of(DAT_RETURN answer) {
  return (unsigned)DAT_GET_TYPE(answer);
}

static void require(DAT_RETURN answer, const char* call) {
  if (answer == DAT_SUCCESS) return;
  printf("wrong: %s is answered %#x\n", call, (unsigned)answer);
  exit(1);
}

/* Tries with the limit, and with one more, which has to be answered `refused`. */
typedef DAT_RETURN (*Attempt)(unsigned long long asked);
static void keeps(const char* name, unsigned long long limit, DAT_RETURN_TYPE refused, Attempt attempt) {
  const int before = failures;
  DAT_RETURN answer = attempt(limit);
  if (answer != DAT_SUCCESS) wrong(name, "the limit", limit, (unsigned)answer);
  answer = attempt(limit + 1);
  if (type_of(answer) != (unsigned)refused) wrong(name, "one more than the limit", limit + 1, (unsigned)answer);
  if (failures == before) printf("%s %llu\n", name, limit);
}

/* Creates objects until one is refused, which has to be the one after the limit. */
typedef DAT_RETURN (*Create)(DAT_HANDLE* made);
typedef DAT_RETURN (*Free)(DAT_HANDLE made);
static void counts(const char* name, DAT_COUNT limit, Create create, Free discard) {
  static DAT_HANDLE made[kMostObjects + 1];
  DAT_COUNT i, count = 0;
  DAT_RETURN answer = DAT_SUCCESS;
  if (limit > kMostObjects) return;
  while (count <= limit && (answer = create(&made[count])) == DAT_SUCCESS) ++count;
  if (count != limit || (limit > 0 && type_of(answer) != DAT_INSUFFICIENT_RESOURCES) ||
      (limit == 0 && type_of(answer) != DAT_MODEL_NOT_SUPPORTED)) {
    wrong(name, "the object after", (unsigned long long)count, (unsigned)answer);
  } else {
    printf("%s %d\n", name, (int)limit);
  }
  for (i = 0; i < count; ++i) require(discard(made[i]), name);
}

static DAT_EVD_HANDLE dtos, connections;

/* As long as that, or as there may be. */
static DAT_COUNT queue_length(DAT_COUNT wished) {
  return limits.max_evd_qlen < wished ? limits.max_evd_qlen : wished;
}

static DAT_RETURN create_pz(DAT_HANDLE* made) {
  return dat_pz_create(ia, made);
}
static DAT_RETURN create_dto_evd(DAT_HANDLE* made) {
  return dat_evd_create(ia, 1, none, DAT_EVD_DTO_FLAG, made);
}
static DAT_RETURN create_rmr(DAT_HANDLE* made) {
  return dat_rmr_create(pz, made);
}

static DAT_RETURN create_lmr(DAT_HANDLE* made) {
  DAT_REGION_DESCRIPTION region;
  region.for_va = page;
  return dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, 64, pz, DAT_MEM_PRIV_LOCAL_READ_FLAG, DAT_VA_TYPE_VA, made,
                        NULL, NULL, NULL, NULL);
}

static DAT_RETURN make_srq(DAT_COUNT dtos_asked, DAT_COUNT iov, DAT_HANDLE* made) {
  DAT_SRQ_ATTR wish;
  memset(&wish, 0, sizeof wish);
  wish.max_recv_dtos = dtos_asked;
  wish.max_recv_iov = iov;
  return dat_srq_create(ia, pz, &wish, made);
}
static DAT_RETURN create_srq(DAT_HANDLE* made) {
  return make_srq(1, 1, made);
}

static DAT_EP_ATTR least(void) {
  DAT_EP_ATTR wish;
  memset(&wish, 0, sizeof wish);
  wish.service_type = DAT_SERVICE_TYPE_RC;
  wish.max_message_size = limits.max_message_size;
  wish.max_rdma_size = limits.max_rdma_size;
  wish.max_recv_dtos = wish.max_request_dtos = wish.max_recv_iov = wish.max_request_iov = 1;
  wish.max_rdma_write_iov = 1;
  return wish;
}
static DAT_RETURN make_ep(const DAT_EP_ATTR* wish, DAT_HANDLE* made) {
  return dat_ep_create(ia, pz, dtos, dtos, connections, wish, made);
}
static DAT_RETURN create_ep(DAT_HANDLE* made) {
  const DAT_EP_ATTR wish = least();
  return make_ep(&wish, made);
}

/* An endpoint with one attribute at that value. */
#define ATTEMPT(attribute)                                      \
  static DAT_RETURN ask_##attribute(unsigned long long asked) { \
    DAT_EP_ATTR wish = least();                                 \
    DAT_HANDLE made;                                            \
    DAT_RETURN answer;                                          \
    wish.attribute = (DAT_COUNT)asked;                          \
    answer = make_ep(&wish, &made);                             \
    return answer == DAT_SUCCESS ? dat_ep_free(made) : answer;  \
  }
ATTEMPT(max_recv_dtos)
ATTEMPT(max_request_dtos)
ATTEMPT(max_recv_iov)
ATTEMPT(max_request_iov)
ATTEMPT(max_rdma_read_in)
ATTEMPT(max_rdma_read_out)
ATTEMPT(max_rdma_read_iov)
ATTEMPT(max_rdma_write_iov)

static DAT_RETURN ask_evd(unsigned long long asked) {
  DAT_HANDLE made;
  const DAT_RETURN answer = dat_evd_create(ia, (DAT_COUNT)asked, none, DAT_EVD_DTO_FLAG, &made);
  return answer == DAT_SUCCESS ? dat_evd_free(made) : answer;
}

static DAT_RETURN ask_srq(unsigned long long asked) {
  DAT_HANDLE made;
  const DAT_RETURN answer = make_srq((DAT_COUNT)asked, 1, &made);
  return answer == DAT_SUCCESS ? dat_srq_free(made) : answer;
}

static char* memory; /* two messages that are one byte too long */

static DAT_RETURN ask_lmr(unsigned long long asked) {
  DAT_REGION_DESCRIPTION region;
  DAT_HANDLE made;
  DAT_RETURN answer;
  region.for_va = memory;
  answer = dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, asked, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made,
                          NULL, NULL, NULL, NULL);
  return answer == DAT_SUCCESS ? dat_lmr_free(made) : answer;
}

static void check_counts(void) {
  counts("max_pzs", limits.max_pzs, create_pz, dat_pz_free);
  counts("max_evds", limits.max_evds, create_dto_evd, dat_evd_free);
  require(dat_pz_create(ia, &pz), "dat_pz_create");
  counts("max_lmrs", limits.max_lmrs, create_lmr, dat_lmr_free);
  counts("max_rmrs", limits.max_rmrs, create_rmr, dat_rmr_free);
  counts("max_srqs", limits.max_srqs, create_srq, dat_srq_free);
  require(dat_evd_create(ia, queue_length(64), none, DAT_EVD_DTO_FLAG, &dtos), "dat_evd_create of DTOs");
  require(dat_evd_create(ia, queue_length(8), none, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &connections),
          "dat_evd_create of connections");
  counts("max_eps", limits.max_eps, create_ep, dat_ep_free);
}

static void check_sizes(void) {
  const DAT_RETURN_TYPE refused = DAT_INVALID_PARAMETER;
  keeps("max_dto_per_ep", (unsigned)limits.max_dto_per_ep, refused, ask_max_recv_dtos);
  keeps("max_dto_per_ep", (unsigned)limits.max_dto_per_ep, refused, ask_max_request_dtos);
  keeps("max_iov_segments_per_dto", (unsigned)limits.max_iov_segments_per_dto, refused, ask_max_recv_iov);
  keeps("max_iov_segments_per_dto", (unsigned)limits.max_iov_segments_per_dto, refused, ask_max_request_iov);
  keeps("max_rdma_read_per_ep_in", (unsigned)limits.max_rdma_read_per_ep_in, refused, ask_max_rdma_read_in);
  keeps("max_rdma_read_per_ep_out", (unsigned)limits.max_rdma_read_per_ep_out, refused, ask_max_rdma_read_out);
  keeps("max_iov_segments_per_rdma_read", (unsigned)limits.max_iov_segments_per_rdma_read, refused,
        ask_max_rdma_read_iov);
  keeps("max_iov_segments_per_rdma_write", (unsigned)limits.max_iov_segments_per_rdma_write, refused,
        ask_max_rdma_write_iov);
  if (limits.max_srqs > 0) keeps("max_recv_per_srq", (unsigned)limits.max_recv_per_srq, refused, ask_srq);
}

/* These need a completion queue or a region of their own beside the one that stays. */
static void check_lengths(void) {
  require(dat_evd_free(dtos), "dat_evd_free");
  if (limits.max_evd_qlen <= kMostQueue) {
    keeps("max_evd_qlen", (unsigned)limits.max_evd_qlen, DAT_INVALID_PARAMETER, ask_evd);
  }
  require(dat_evd_create(ia, queue_length(64), none, DAT_EVD_DTO_FLAG, &dtos), "dat_evd_create of DTOs");
  if (limits.max_lmr_block_size <= kMostMessage) {
    keeps("max_lmr_block_size", limits.max_lmr_block_size, DAT_INVALID_PARAMETER, ask_lmr);
  }
}

static DAT_EVENT next(DAT_EVD_HANDLE evd, const char* what) {
  DAT_EVENT event;
  DAT_COUNT more;
  require(dat_evd_wait(evd, PATIENCE, 1, &event, &more), what);
  return event;
}

static struct sockaddr_in own_address;
static DAT_CONN_QUAL port;

static DAT_RETURN connect_with(DAT_EP_HANDLE ep, unsigned long long asked) {
  return dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&own_address, port, PATIENCE, (DAT_COUNT)asked, page,
                        DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

/* Both ends of a connection, made with as much private data as there may be. */
static void connect_pair(DAT_EP_HANDLE* client, DAT_EP_HANDLE* server) {
  const DAT_COUNT most = provider.max_private_data_size;
  DAT_PSP_HANDLE psp;
  DAT_EVENT request;
  DAT_RETURN answer;
  int i;
  require(create_ep(client), "dat_ep_create of the client");
  require(create_ep(server), "dat_ep_create of the server");
  require(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp), "dat_psp_create_any");
  memcpy(&own_address, limits.ia_address_ptr, sizeof own_address);
  answer = connect_with(*client, (unsigned long long)most + 1);
  if (type_of(answer) != DAT_INVALID_PARAMETER) wrong("max_private_data_size", "to connect with", most + 1, answer);
  require(connect_with(*client, (unsigned long long)most), "dat_ep_connect with the most private data");
  request = next(connections, "the request");
  answer = dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, *server, most + 1, page);
  if (type_of(answer) != DAT_INVALID_PARAMETER) wrong("max_private_data_size", "to accept with", most + 1, answer);
  require(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, *server, most, page),
          "dat_cr_accept with the most private data");
  for (i = 0; i < 2; ++i) {
    const DAT_EVENT event = next(connections, "the connection");
    if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
      wrong("the connection", "event", (unsigned)event.event_number, 0);
      exit(1);
    }
  }
  require(dat_psp_free(psp), "dat_psp_free");
  printf("max_private_data_size %d\n", (int)most);
}

/* A write of the most bytes from the first half of the memory into the second, and of one more. */
static void check_message(DAT_EP_HANDLE ep) {
  const DAT_VLEN most = limits.max_rdma_size;
  const DAT_VLEN length = 2 * (most + 1);
  DAT_REGION_DESCRIPTION region;
  DAT_LMR_HANDLE lmr;
  DAT_LMR_TRIPLET from;
  DAT_RMR_TRIPLET to;
  DAT_DTO_COOKIE cookie;
  DAT_RETURN answer;
  DAT_DTO_COMPLETION_STATUS status;
  if (most > kMostMessage || limits.max_lmr_block_size < length) return;
  memset(&from, 0, sizeof from);
  memset(&to, 0, sizeof to);
  region.for_va = memory;
  require(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, length, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr,
                         &from.lmr_context, &to.rmr_context, NULL, NULL),
          "dat_lmr_create for a message");
  from.virtual_address = (DAT_VADDR)(uintptr_t)memory;
  to.virtual_address = from.virtual_address + most + 1;
  from.segment_length = to.segment_length = most + 1;
  cookie.as_64 = 1;
  answer = dat_ep_post_rdma_write(ep, 1, &from, cookie, &to, DAT_COMPLETION_DEFAULT_FLAG);
  if (type_of(answer) != DAT_INVALID_PARAMETER && type_of(answer) != DAT_LENGTH_ERROR) {
    wrong("max_rdma_size", "a write of", most + 1, answer);
  }
  from.segment_length = to.segment_length = most;
  memory[most - 1] = 'x';
  require(dat_ep_post_rdma_write(ep, 1, &from, cookie, &to, DAT_COMPLETION_DEFAULT_FLAG), "a write of the most bytes");
  status = next(dtos, "the write").event_data.dto_completion_event_data.status;
  if (status != DAT_DTO_SUCCESS || memory[2 * most] != 'x') wrong("max_rdma_size", "status", (unsigned)status, 0);
  require(dat_lmr_free(lmr), "dat_lmr_free");
  if (failures == 0) printf("max_rdma_size %llu\n", (unsigned long long)most);
}

int main(void) {
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_EP_HANDLE client, server;
  require(dat_ia_open("sim0", 8, &async, &ia), "dat_ia_open");
  require(dat_ia_query(ia, &async, DAT_IA_FIELD_ALL, &limits, DAT_PROVIDER_FIELD_ALL, &provider), "dat_ia_query");
  memory = calloc(2, kMostMessage + 1);
  check_counts();
  check_sizes();
  check_lengths();
  if (limits.max_eps >= 2) {
    connect_pair(&client, &server);
    check_message(client);
  }
  require(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG), "dat_ia_close");
  return failures != 0;
}
