/* SPDX-License-Identifier: BSD-2-Clause */
/* Two processes: the client writes a greeting into the memory of the server by RDMA, then tells it by a message.
 *
 *     pair server              in one shell
 *     pair client [HOST]       in another; HOST is 127.0.0.1 if it is not given
 *
 * How the client learns where to write: the server accepts the connection with private data, its buffer's address and
 * key, and the client finds them in its ESTABLISHED event.
 * Between two hosts, start both with SOFTDAT_ADDRESS set to an address or interface of their host.
 * cc pair.c $(pkg-config --cflags --libs dat2) -o pair */
#define _DEFAULT_SOURCE /* htobe64 */
#include <dat2/udat.h>
#include <endian.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 4712, SIZE = 64, SECOND = 1000000, PATIENCE = 10 * SECOND };

/* What the server tells the client, in network byte order. */
struct target {
  uint64_t address;
  uint64_t key;
};

static DAT_IA_HANDLE ia;
static DAT_PZ_HANDLE pz;
/* Two queues: nothing orders a message's completion behind the event that its connection is established. */
static DAT_EVD_HANDLE connections;
static DAT_EVD_HANDLE completions;
static char memory[SIZE];
static DAT_LMR_TRIPLET local;   /* memory, for us */
static DAT_RMR_CONTEXT rmr_key; /* memory, for the peer */

/* Ends the program unless the call succeeded. */
static void require(DAT_RETURN result, const char* call) {
  const char* major = "";
  const char* minor = "";
  if (result == DAT_SUCCESS) return;
  dat_strerror(result, &major, &minor);
  fprintf(stderr, "pair: %s: %s %s\n", call, major, minor);
  exit(1);
}
#define REQUIRE(call) require((call), #call)

static DAT_EVENT next_event(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout_us) {
  DAT_EVENT event;
  DAT_COUNT more;
  REQUIRE(dat_evd_wait(evd, timeout_us, 1, &event, &more));
  return event;
}

static DAT_EVENT expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, const char* what) {
  const DAT_EVENT event = next_event(evd, PATIENCE);
  if (event.event_number == number) return event;
  fprintf(stderr, "pair: waited for %s, but event %#x came\n", what, (unsigned)event.event_number);
  exit(1);
}

static void expect_completion(const char* what) {
  const DAT_EVENT event = expect(completions, DAT_DTO_COMPLETION_EVENT, what);
  const DAT_DTO_COMPLETION_STATUS status = event.event_data.dto_completion_event_data.status;
  if (status == DAT_DTO_SUCCESS) return;
  fprintf(stderr, "pair: %s failed: completion status %d\n", what, (int)status);
  exit(1);
}

static void open_adapter(void) {
  DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
  DAT_LMR_HANDLE lmr;
  DAT_REGION_DESCRIPTION region;
  char name[] = "sim0";
  REQUIRE(dat_ia_open(name, 8, &async, &ia));
  REQUIRE(dat_pz_create(ia, &pz));
  REQUIRE(dat_evd_create(ia, 16, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, &connections));
  REQUIRE(dat_evd_create(ia, 16, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &completions));
  region.for_va = memory;
  REQUIRE(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, SIZE, pz,
                         DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG,
                         DAT_VA_TYPE_VA, &lmr, &local.lmr_context, &rmr_key, NULL, NULL));
  local.virtual_address = (DAT_VADDR)(uintptr_t)memory;
  local.segment_length = SIZE;
}

static DAT_EP_HANDLE create_endpoint(void) {
  DAT_EP_HANDLE ep;
  REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  return ep;
}

static void serve(void) {
  const DAT_DTO_COOKIE cookie = {0};
  const DAT_EP_HANDLE ep = create_endpoint();
  const struct target told = {htobe64(local.virtual_address), htobe64(rmr_key)};
  DAT_LMR_TRIPLET nothing = local;
  DAT_PSP_HANDLE psp;
  DAT_EVENT event;
  REQUIRE(dat_psp_create(ia, PORT, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  printf("the server listens\n");
  fflush(stdout);
  event = next_event(connections, DAT_TIMEOUT_INFINITE); /* until a client comes */
  /* The receive is posted before the client can send. */
  nothing.segment_length = 0;
  REQUIRE(dat_ep_post_recv(ep, 1, &nothing, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  REQUIRE(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, sizeof told, (DAT_PVOID)&told));
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED, "the connection");
  /* What was written before a send is there when the send arrives. */
  expect_completion("the client's message");
  printf("the server got: %s\n", memory);
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED, "the client's farewell");
}

static struct addrinfo* address_of(const char* host) {
  struct addrinfo* found = NULL;
  const int error = getaddrinfo(host, NULL, NULL, &found);
  if (error == 0) return found;
  fprintf(stderr, "pair: the host \"%s\": %s\n", host, gai_strerror(error));
  exit(1);
}

static void write_greeting(DAT_EP_HANDLE ep, const struct target* told) {
  const DAT_DTO_COOKIE cookie = {0};
  DAT_LMR_TRIPLET nothing = local;
  DAT_RMR_TRIPLET remote;
  memset(&remote, 0, sizeof remote);
  nothing.segment_length = 0;
  remote.virtual_address = be64toh(told->address);
  remote.rmr_context = (DAT_RMR_CONTEXT)be64toh(told->key);
  remote.segment_length = SIZE;
  strcpy(memory, "hello from another process");
  REQUIRE(dat_ep_post_rdma_write(ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  REQUIRE(dat_ep_post_send(ep, 1, &nothing, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  expect_completion("the write");
  expect_completion("the message");
}

static void run_client(const char* host) {
  const DAT_EP_HANDLE ep = create_endpoint();
  struct addrinfo* const address = address_of(host);
  struct target told;
  DAT_EVENT event;
  REQUIRE(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)address->ai_addr, PORT, PATIENCE, 0, NULL, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG));
  event = next_event(connections, PATIENCE);
  if (event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED) {
    fprintf(stderr, "pair: nobody listens at %s; start `pair server` there first\n", host);
    exit(2);
  }
  if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED ||
      event.event_data.connect_event_data.private_data_size < (DAT_COUNT)sizeof told) {
    fprintf(stderr, "pair: no connection: event %#x\n", (unsigned)event.event_number);
    exit(1);
  }
  memcpy(&told, event.event_data.connect_event_data.private_data, sizeof told);
  write_greeting(ep, &told);
  REQUIRE(dat_ep_disconnect(ep, DAT_CLOSE_GRACEFUL_FLAG));
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED, "the end of the connection");
  freeaddrinfo(address);
  printf("the client wrote it\n");
}

int main(int count, char** words) {
  const char* const role = count > 1 ? words[1] : "";
  if (strcmp(role, "server") != 0 && strcmp(role, "client") != 0) {
    fprintf(stderr, "usage: pair server | pair client [HOST]\n");
    return 2;
  }
  open_adapter();
  if (strcmp(role, "server") == 0) {
    serve();
  } else {
    run_client(count > 2 ? words[2] : "127.0.0.1");
  }
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
