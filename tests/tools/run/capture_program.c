/* SPDX-License-Identifier: BSD-2-Clause */
/* capture_program server|client PORT [ROUNDS [ADDRESS]]: a pair whose bytes are known. The client connects to ADDRESS
 * (127.0.0.1), sends 5000 bytes, writes 200000 and reads 70000, ROUNDS times. With ROUNDS 0 it goes on for ever. With
 * CAPTURE_PROGRAM_FORKS set the client forks at each SIGUSR1; the child says its number and sleeps. */
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "examples/connection.h"

enum {
  SEND = 5000,
  WRITE = 200000,
  READ = 70000,
  WRITE_AT = 0x10000,
  READ_AT = 0x80000,
  SIZE = 0x100000,
  RECEIVES = 4
};

static const DAT_DTO_COOKIE cookie;
static char* memory;
static DAT_LMR_TRIPLET all;

static sigset_t fork_signal;

/* The signal is blocked and asked for here, so that it interrupts no wait. Threads that begin later block it, too. */
static void block_fork_signal(void) {
  sigemptyset(&fork_signal);
  if (getenv("CAPTURE_PROGRAM_FORKS") != NULL) sigaddset(&fork_signal, SIGUSR1);
  sigprocmask(SIG_BLOCK, &fork_signal, NULL);
}

static void fork_if_asked(void) {
  const struct timespec at_once = {0, 0};
  if (sigtimedwait(&fork_signal, NULL, &at_once) != SIGUSR1 || fork() != 0) return;
  printf("child %d\n", (int)getpid());
  fflush(stdout);
  for (;;) pause();
}

/* What capture_test expects. */
static void fill(size_t at, size_t length, uint32_t seed) {
  for (size_t i = 0; i < length; ++i) {
    seed = seed * 1103515245u + 12345u;
    memory[at + i] = (char)(seed >> 16);
  }
}

static DAT_LMR_TRIPLET part(size_t at, uint32_t length) {
  DAT_LMR_TRIPLET segment = all;
  segment.virtual_address += at;
  segment.segment_length = length;
  return segment;
}

static DAT_EP_HANDLE create_endpoint(void) {
  DAT_EP_HANDLE ep;
  REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  return ep;
}

static void post_recv(DAT_EP_HANDLE ep) {
  DAT_LMR_TRIPLET segment = part(0, SEND);
  REQUIRE(dat_ep_post_recv(ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void serve(DAT_CONN_QUAL port, int rounds) {
  DAT_RMR_CONTEXT key;
  all = register_memory(memory, SIZE, DAT_MEM_PRIV_ALL_FLAG, &key);
  const struct target told = target_of(memory, key);
  const DAT_EP_HANDLE ep = create_endpoint();
  fill(READ_AT, READ, 3);
  for (int i = 0; i < RECEIVES; ++i) post_recv(ep); /* so that no message is sent again for want of one */
  listen_at(port);
  const DAT_EVENT event = next_event(connections, DAT_TIMEOUT_INFINITE);
  REQUIRE(
      dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, sizeof told, (DAT_PVOID)(uintptr_t)&told));
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED, "the connection");
  for (int i = 0; rounds == 0 || i < rounds; ++i) {
    expect_completion("a message");
    post_recv(ep);
  }
  expect(connections, DAT_CONNECTION_EVENT_DISCONNECTED, "the client's farewell");
}

static void run_client(const char* address, DAT_CONN_QUAL port, int rounds) {
  all = register_memory(memory, SIZE, DAT_MEM_PRIV_ALL_FLAG, NULL);
  const DAT_EP_HANDLE ep = create_endpoint();
  struct target told;
  const DAT_EVENT established = connect_to(ep, address, port, NULL, 0);
  take_private_data(&established, &told, sizeof told);
  fill(0, SEND, 1);
  fill(WRITE_AT, WRITE, 2);
  for (int i = 0; rounds == 0 || i < rounds; ++i) {
    DAT_LMR_TRIPLET sent = part(0, SEND), written = part(WRITE_AT, WRITE), read = part(READ_AT, READ);
    DAT_RMR_TRIPLET target = remote_part(&told, WRITE_AT, WRITE), source = remote_part(&told, READ_AT, READ);
    REQUIRE(dat_ep_post_rdma_write(ep, 1, &written, cookie, &target, DAT_COMPLETION_DEFAULT_FLAG));
    expect_completion("the write");
    REQUIRE(dat_ep_post_rdma_read(ep, 1, &read, cookie, &source, DAT_COMPLETION_DEFAULT_FLAG));
    expect_completion("the read");
    REQUIRE(dat_ep_post_send(ep, 1, &sent, cookie, DAT_COMPLETION_DEFAULT_FLAG));
    expect_completion("the message");
    if (i == 0) printf("the first round is done\n"), fflush(stdout);
    fork_if_asked();
  }
  disconnect(ep);
}

int main(int count, char** words) {
  if (count < 3) return 2;
  const DAT_CONN_QUAL port = (DAT_CONN_QUAL)atoi(words[2]);
  const int rounds = count > 3 ? atoi(words[3]) : 1;
  memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  block_fork_signal();
  open_adapter();
  if (strcmp(words[1], "server") == 0) {
    serve(port, rounds);
  } else {
    run_client(count > 4 ? words[4] : "127.0.0.1", port, rounds);
  }
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
