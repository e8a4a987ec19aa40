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
#include "connection.h"

enum { PORT = 4712, SIZE = 64 };

static char memory[SIZE];
static const DAT_DTO_COOKIE cookie;

static DAT_EP_HANDLE create_endpoint(void) {
  DAT_EP_HANDLE ep;
  REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  return ep;
}

static void serve(void) {
  DAT_RMR_CONTEXT key;
  DAT_LMR_TRIPLET nothing = register_memory(memory, SIZE, LOCAL | DAT_MEM_PRIV_REMOTE_WRITE_FLAG, &key);
  const struct target told = target_of(memory, key);
  const DAT_EP_HANDLE ep = create_endpoint();
  DAT_EVENT event;
  listen_at(PORT);
  event = next_event(connections, DAT_TIMEOUT_INFINITE); /* until a client comes */
  /* The receive is posted before the client can send. */
  nothing.segment_length = 0;
  REQUIRE(dat_ep_post_recv(ep, 1, &nothing, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  REQUIRE(
      dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, sizeof told, (DAT_PVOID)(uintptr_t)&told));
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED, "the connection");
  /* What was written before a send is there when the send arrives. */
  expect_completion("the client's message");
  printf("the server got: %s\n", memory);
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED, "the client's farewell");
}

static void run_client(const char* host) {
  DAT_LMR_TRIPLET local = register_memory(memory, SIZE, LOCAL, NULL), nothing = local;
  const DAT_EP_HANDLE ep = create_endpoint();
  struct target told;
  const DAT_EVENT established = connect_to(ep, host, PORT, NULL, 0);
  take_private_data(&established, &told, sizeof told);
  DAT_RMR_TRIPLET remote = remote_part(&told, 0, SIZE);
  strcpy(memory, "hello from another process");
  nothing.segment_length = 0;
  REQUIRE(dat_ep_post_rdma_write(ep, 1, &local, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
  REQUIRE(dat_ep_post_send(ep, 1, &nothing, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  expect_completion("the write");
  expect_completion("the message");
  disconnect(ep);
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
