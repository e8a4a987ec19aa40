/* SPDX-License-Identifier: BSD-2-Clause */
/* slow_program server|client PORT REASON [ROUNDS [FIFO]]: a pair that is slow for one reason. The client does the
   rounds. Through the FIFO the client tells a server that is slow on purpose that it has posted: so the message has
   been sent before the server is late, on a busy machine, too. */
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "examples/connection.h"

enum { MESSAGE = 64, LARGE = 1 << 20, BUFFER = 4096, BUFFERS = 200, SIZE = 1 << 20, RECEIVES = 64 };

static const DAT_DTO_COOKIE cookie;
static char* memory;
static DAT_LMR_TRIPLET all;
static struct target peer;
static DAT_EP_HANDLE ep;
static const char* reason;
static int rounds;
static int fifo = -1;
static int32_t client; /* the process, as the server knows it */

static int is(const char* word) {
  return strcmp(reason, word) == 0;
}

/* What a program does beside its communication. */
static void work(long microseconds) {
  const struct timespec time = {microseconds / 1000000, microseconds % 1000000 * 1000};
  nanosleep(&time, NULL);
}

static void tell_peer(void) {
  const char told = 1;
  if (fifo >= 0 && write(fifo, &told, 1) != 1) exit(4);
}

static void await_peer(void) {
  char told = 0;
  if (fifo >= 0 && read(fifo, &told, 1) != 1) exit(4);
}

/* Until the client sleeps, which it does in its wait for the answer. */
static void await_sleep(void) {
  char path[32], text[512];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)client);
  for (;;) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = read(file, text, sizeof text - 1);
    if (length <= 0) exit(5);
    close(file);
    text[length] = '\0';
    if (strncmp(strrchr(text, ')'), ") S", 3) == 0) return;
    work(50);
  }
}

static void post_recv(void) {
  DAT_LMR_TRIPLET segment = all;
  segment.segment_length = MESSAGE;
  REQUIRE(dat_ep_post_recv(ep, 1, &segment, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static void post_send(DAT_COMPLETION_FLAGS flags) {
  DAT_LMR_TRIPLET segment = all;
  segment.segment_length = MESSAGE;
  REQUIRE(dat_ep_post_send(ep, 1, &segment, cookie, flags));
}

static void post_write(uint32_t length) {
  DAT_LMR_TRIPLET segment = all;
  DAT_RMR_TRIPLET remote = remote_part(&peer, 0, length);
  segment.segment_length = length;
  REQUIRE(dat_ep_post_rdma_write(ep, 1, &segment, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG));
}

/* pause_us: between polls. */
static void poll(long pause_us) {
  DAT_EVENT event;
  while (dat_evd_dequeue(completions, &event) != DAT_SUCCESS) {
    if (pause_us > 0) work(pause_us);
  }
  check_status(&event, "an operation");
}

static void make_endpoint(void) {
  REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  if (is("late-receives")) return;
  for (int i = 0; i < RECEIVES; ++i) post_recv();
}

static void serve_round(void) {
  if (is("late-receives") || is("late-poll")) {
    await_peer();
    work(40000);
  }
  if (is("late-receives")) post_recv();
  expect_completion("a message");
  if (is("late-receives")) return;
  post_recv();
  if (is("sleeping-poll")) work(2000);
  if (is("wake-ups")) await_sleep();
  post_send(DAT_COMPLETION_SUPPRESS_FLAG);
}

/* Each of many buffers. */
static void register_anew(int number) {
  DAT_REGION_DESCRIPTION region = {.for_va = memory + (size_t)number * BUFFER};
  DAT_LMR_HANDLE lmr;
  DAT_LMR_CONTEXT local;
  DAT_RMR_CONTEXT remote;
  REQUIRE(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, BUFFER, pz, DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr,
                         &local, &remote, NULL, NULL));
  REQUIRE(dat_lmr_free(lmr));
}

static void client_round(void) {
  if (is("depth-one")) {
    post_write(LARGE);
    poll(0);
    return;
  }
  if (is("registration")) {
    for (int i = 0; i < BUFFERS; ++i) register_anew(i);
    post_write(MESSAGE);
    poll(0);
    return;
  }
  if (is("late-receives")) {
    post_send(DAT_COMPLETION_DEFAULT_FLAG);
    tell_peer();
    expect_completion("the message");
    return;
  }
  post_send(DAT_COMPLETION_SUPPRESS_FLAG);
  if (is("late-poll")) tell_peer();
  if (is("sleeping-poll")) {
    poll(40000);
  } else {
    expect_completion("the answer");
  }
  post_recv();
}

static void serve(DAT_CONN_QUAL port) {
  DAT_RMR_CONTEXT key;
  all = register_memory(memory, LARGE, DAT_MEM_PRIV_ALL_FLAG, &key);
  const struct target told = target_of(memory, key);
  make_endpoint();
  listen_at(port);
  const DAT_EVENT event = next_event(connections, DAT_TIMEOUT_INFINITE);
  take_request_data(event.event_data.cr_arrival_event_data.cr_handle, &client, sizeof client);
  REQUIRE(
      dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle, ep, sizeof told, (DAT_PVOID)(uintptr_t)&told));
  expect(connections, DAT_CONNECTION_EVENT_ESTABLISHED, "the connection");
  const int answers = is("depth-one") || is("registration") ? 0 : rounds;
  for (int i = 0; i < answers; ++i) serve_round();
  next_event(connections, DAT_TIMEOUT_INFINITE);
}

int main(int count, char** words) {
  if (count < 4) return 2;
  const DAT_CONN_QUAL port = (DAT_CONN_QUAL)atoi(words[2]);
  reason = words[3];
  rounds = count > 4 ? atoi(words[4]) : 25;
  /* For both directions: nobody waits for the other to open it. */
  if (count > 5 && (fifo = open(words[5], O_RDWR | O_CLOEXEC)) < 0) return 2;
  memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return 3;
  open_adapter();
  if (strcmp(words[1], "server") == 0) {
    serve(port);
  } else {
    all = register_memory(memory, LARGE, DAT_MEM_PRIV_ALL_FLAG, NULL);
    make_endpoint();
    client = getpid();
    const DAT_EVENT established = connect_to(ep, "127.0.0.1", port, &client, sizeof client);
    take_private_data(&established, &peer, sizeof peer);
    for (int i = 0; i < rounds; ++i) client_round();
    disconnect(ep);
  }
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
