/* SPDX-License-Identifier: BSD-2-Clause */
/* Two processes, a server and a client, that connect, do what a case says, and end. A case defines, before it includes
 * this, the macros that differ from those below, and then server() and client(), which run while connected.
 *
 * tell() puts a word on standard output that the test must find among the words on standard error. */
#ifndef SOFTDAT_TESTS_WRONG_PAIR_H
#define SOFTDAT_TESTS_WRONG_PAIR_H

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_softdat_extensions.h>
#include <dat2/udat.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SIZE
#define SIZE 64 /* of the server's region */
#endif
#ifndef CLIENT_SIZE
#define CLIENT_SIZE 256 /* of the client's, so that it can ask for too much */
#endif
#ifndef SERVER_RIGHTS
#define SERVER_RIGHTS DAT_MEM_PRIV_ALL_FLAG
#endif
#ifndef CLIENT_RIGHTS
#define CLIENT_RIGHTS DAT_MEM_PRIV_ALL_FLAG
#endif
#ifndef DTO_QLEN
#define DTO_QLEN 64
#endif
#ifndef CLIENT_DTO_QLEN
#define CLIENT_DTO_QLEN DTO_QLEN
#endif
#ifndef RECEIVES
#define RECEIVES 4 /* that the server posts before it accepts */
#endif
#ifndef RECEIVE_SIZE
#define RECEIVE_SIZE SIZE
#endif
/* Private data of the client's connect. */
#ifndef HELLO
#define HELLO ""
#endif
/* What the server does with a connection request before it accepts. */
#ifndef BEFORE_ACCEPT
#define BEFORE_ACCEPT(request) (void)(request)
#endif
#define PAGE 4096
#ifndef MAPPED
#define MAPPED PAGE /* bytes of memory */
#endif
#define SECONDS 1000000u
#define PATIENCE (30 * SECONDS)

struct place {
  DAT_VADDR address;
  DAT_RMR_CONTEXT key;
};

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
static DAT_EVD_HANDLE async, connections, completions;
static DAT_EVD_HANDLE receives; /* the same as completions, unless RECEIVE_EVD */
static DAT_EP_HANDLE ep;
static DAT_SRQ_HANDLE srq; /* of the server, if SHARED */
static DAT_LMR_HANDLE lmr;
static DAT_LMR_TRIPLET local;
static DAT_RMR_TRIPLET remote; /* the client's view of the server's region */
static DAT_RMR_CONTEXT key;
static char* memory;
static DAT_DTO_COOKIE cookie;
static DAT_PSP_HANDLE psp;
static DAT_CONN_QUAL port;
static int is_server;
/* For what the case itself wants to say to the other process. */
static int to_client[2], to_server[2];

#ifndef ALONE
static void server(void);
#endif
static void client(void);

static void tell(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  printf("\n");
  fflush(stdout);
}

static void tell_range(DAT_VADDR address, DAT_VLEN length) {
  tell("[0x%llx, 0x%llx), %llu byte", (unsigned long long)address, (unsigned long long)(address + length),
       (unsigned long long)length);
}

static void fail(const char* what, unsigned code) {
  printf("%s: %#x\n", what, code);
  fflush(stdout);
  _exit(1);
}

#define CHECK(call)                               \
  do {                                            \
    DAT_RETURN code_ = (call);                    \
    if (code_ != DAT_SUCCESS) fail(#call, code_); \
  } while (0)
/* A call that the case expects to be refused when it is wrong. */
#ifdef WRONG
#define REFUSED(call) ((void)(call))
#else
#define REFUSED(call) CHECK(call)
#endif

static DAT_EVENT next_event(DAT_EVD_HANDLE evd) {
  DAT_EVENT event;
  DAT_COUNT more;
  CHECK(dat_evd_wait(evd, PATIENCE, 1, &event, &more));
  return event;
}

static DAT_EVENT expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number) {
  DAT_EVENT event = next_event(evd);
  if (event.event_number != number) fail("event", (unsigned)event.event_number);
  return event;
}

static DAT_DTO_COMPLETION_STATUS complete(void) {
  return expect(completions, DAT_DTO_COMPLETION_EVENT).event_data.dto_completion_event_data.status;
}

/* Of an operation that fails when the case is wrong. */
static void complete_well(void) {
  DAT_DTO_COMPLETION_STATUS status = complete();
#ifdef WRONG
  (void)status;
#else
  if (status != DAT_DTO_SUCCESS) fail("completion", (unsigned)status);
#endif
}

static void wake(int* pipe_ends) {
  if (write(pipe_ends[1], "", 1) != 1) _exit(1);
}

static void await(int* pipe_ends) {
  char byte;
  if (read(pipe_ends[0], &byte, 1) != 1) _exit(1);
}

static DAT_LMR_HANDLE register_memory(void* at, DAT_VLEN size, DAT_PZ_HANDLE zone, DAT_MEM_PRIV_FLAGS rights,
                                      DAT_LMR_CONTEXT* lkey, DAT_RMR_CONTEXT* rkey) {
  DAT_REGION_DESCRIPTION region;
  DAT_LMR_HANDLE made = DAT_HANDLE_NULL;
  region.for_va = at;
  CHECK(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, size, zone, rights, DAT_VA_TYPE_VA, &made, lkey, rkey, NULL,
                       NULL));
  return made;
}

static DAT_LMR_TRIPLET segment(DAT_VADDR address, DAT_VLEN length, DAT_LMR_CONTEXT context) {
  DAT_LMR_TRIPLET result = {.virtual_address = address, .segment_length = length, .lmr_context = context};
  return result;
}

static void create_endpoint(DAT_EP_ATTR* attributes) {
#ifdef SHARED
  DAT_SRQ_ATTR shared = {.max_recv_dtos = 16, .max_recv_iov = 1, .low_watermark = DAT_SRQ_LW_DEFAULT};
  DAT_EP_PARAM defaults;
  if (is_server) {
    CHECK(dat_srq_create(ia, pz, &shared, &srq));
    CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
    CHECK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &defaults));
    CHECK(dat_ep_free(ep));
    CHECK(dat_ep_create_with_srq(ia, pz, completions, completions, connections, srq, &defaults.ep_attr, &ep));
    return;
  }
#endif
  CHECK(dat_ep_create(ia, pz, receives, completions, connections, attributes, &ep));
}

static void open_all(DAT_VLEN size, DAT_MEM_PRIV_FLAGS rights) {
  DAT_EP_ATTR* attributes = NULL;
#ifdef EP_ATTRIBUTES
  DAT_EP_PARAM parameters;
#endif
  async = DAT_HANDLE_NULL;
  CHECK(dat_ia_open("sim0", 8, &async, &ia));
  CHECK(dat_pz_create(ia, &pz));
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &connections));
  CHECK(dat_evd_create(ia, is_server ? DTO_QLEN : CLIENT_DTO_QLEN, DAT_HANDLE_NULL,
                       DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, &completions));
  receives = completions;
#ifdef RECEIVE_EVD
  CHECK(dat_evd_create(ia, DTO_QLEN, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &receives));
#endif
#ifdef EP_ATTRIBUTES
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  CHECK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &parameters));
  CHECK(dat_ep_free(ep));
  attributes = &parameters.ep_attr;
  EP_ATTRIBUTES(attributes);
#endif
  create_endpoint(attributes);
  memory = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  lmr = register_memory(memory, size, pz, rights, &local.lmr_context, &key);
  local.virtual_address = (DAT_VADDR)(uintptr_t)memory;
  local.segment_length = size;
}

static void close_all(void) {
  dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG);
}

static void post_receive(DAT_VLEN length) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address, length, local.lmr_context);
  if (srq != DAT_HANDLE_NULL) {
    CHECK(dat_srq_post_recv(srq, 1, &to, cookie));
    return;
  }
  CHECK(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void post_write(DAT_VLEN length) {
  DAT_LMR_TRIPLET from = segment(local.virtual_address, length, local.lmr_context);
  DAT_RMR_TRIPLET to = remote;
  to.segment_length = length;
  CHECK(dat_ep_post_rdma_write(ep, 1, &from, cookie, &to, DAT_COMPLETION_DEFAULT_FLAG));
}

static void post_read(DAT_VLEN length) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address, length, local.lmr_context);
  DAT_RMR_TRIPLET from = remote;
  from.segment_length = length;
  CHECK(dat_ep_post_rdma_read(ep, 1, &to, cookie, &from, DAT_COMPLETION_DEFAULT_FLAG));
}

static void post_send(DAT_VLEN length) {
  DAT_LMR_TRIPLET from = segment(local.virtual_address, length, local.lmr_context);
  CHECK(dat_ep_post_send(ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

/* Until SoftDAT has told of a failure of the endpoint. */
static void await_words(void) {
  char words[1024] = "";
  int tries;
  for (tries = 0; words[0] == '\0' && tries < 3000; ++tries) {
    CHECK(dat_softdat_last_failure(ep, words, sizeof words));
    usleep(10000);
  }
}

/* The end of a connection, whichever it is. */
static void await_end(void) {
  for (;;) {
    DAT_EVENT_NUMBER number = next_event(connections).event_number;
    if (number == DAT_CONNECTION_EVENT_DISCONNECTED || number == DAT_CONNECTION_EVENT_BROKEN) return;
  }
}

static struct sockaddr_in host(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
  return address;
}

static void connect_to(DAT_CONN_QUAL qualifier) {
  struct sockaddr_in address = host();
  CHECK(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, qualifier, PATIENCE, sizeof HELLO - 1, HELLO,
                       DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
}

/* An endpoint asks for the server's service, at that address. */
static void connect_from(DAT_EP_HANDLE from, struct sockaddr_in address, DAT_TIMEOUT timeout) {
  CHECK(dat_ep_connect(from, (DAT_IA_ADDRESS_PTR)&address, port, timeout, 0, NULL, DAT_QOS_BEST_EFFORT,
                       DAT_CONNECT_DEFAULT_FLAG));
}

#ifndef ALONE
static void run_server(void) {
  struct place place;
  int i;
  open_all(SIZE, SERVER_RIGHTS);
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  if (write(to_client[1], &port, sizeof port) != (ssize_t)sizeof port) _exit(1);
  {
    DAT_EVENT request = expect(connections, DAT_CONNECTION_REQUEST_EVENT);
    for (i = 0; i < RECEIVES; ++i) post_receive(RECEIVE_SIZE);
    place.address = local.virtual_address;
    place.key = key;
    BEFORE_ACCEPT(request.event_data.cr_arrival_event_data.cr_handle);
    CHECK(dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, ep, sizeof place, &place));
  }
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
  server();
  await_end();
  close_all();
}

static void run_client(void) {
  struct place place;
  DAT_EVENT established;
  if (read(to_client[0], &port, sizeof port) != (ssize_t)sizeof port) _exit(1);
  open_all(CLIENT_SIZE, CLIENT_RIGHTS);
  connect_to(port);
  established = expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED);
  memcpy(&place, established.event_data.connect_event_data.private_data, sizeof place);
  remote.virtual_address = place.address;
  remote.segment_length = SIZE;
  remote.rmr_context = place.key;
  client();
  dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG);
  await_end();
  close_all();
}
#endif

#ifdef ALONE
/* No connection, one process. */
int main(void) {
  open_all(SIZE, SERVER_RIGHTS);
  client();
  close_all();
  return 0;
}
#else
int main(void) {
  int first = 0, second = 0;
  pid_t child;
  if (pipe(to_client) != 0 || pipe(to_server) != 0) return 1;
  child = fork(); /* before anything of DAT exists */
  if (child == 0) {
    is_server = 1;
    run_server();
    return 0;
  }
  if (fork() == 0) {
    run_client();
    return 0;
  }
  wait(&first);
  wait(&second);
  return first != 0 || second != 0;
}
#endif

#endif
