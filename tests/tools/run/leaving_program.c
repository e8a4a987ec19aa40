/* SPDX-License-Identifier: BSD-2-Clause */
/* leaving_program server PORT: accepts one connection of each step of the client, tells how many messages came, and
 * ends when all have ended.
 *
 * leaving_program client PORT ADDRESS: clients that leave in the middle of their operations, one after the other:
 *
 * - exit calls exit() with operations outstanding.
 *
 * - fork has a child meanwhile, which opens an adapter of its own and is a client that goes in order ("child").
 *
 * - exec becomes this program again, which goes in order ("after").
 *
 * - kill is killed.
 *
 * Each sends its name eight times, in messages of 64 bytes, and writes it eight times, 4096 bytes long. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "examples/connection.h"

enum { MESSAGE = 64, WRITE = 4096, TIMES = 8, CONNECTIONS = 6, SIZE = WRITE + CONNECTIONS * MESSAGE };

static const DAT_DTO_COOKIE cookie;
static char* memory;
static DAT_LMR_TRIPLET all;

/* Of the server, one for each connection. */
static struct connection {
  DAT_EP_HANDLE ep;
  int messages, completions;
} connected[CONNECTIONS];

static DAT_EP_HANDLE create_endpoint(void) {
  DAT_EP_HANDLE ep;
  REQUIRE(dat_ep_create(ia, pz, completions, completions, connections, NULL, &ep));
  return ep;
}

static const char* received(int number) {
  return memory + WRITE + number * MESSAGE;
}

static void accept_one(int number, const DAT_EVENT* event, const struct target* told) {
  const DAT_EP_HANDLE ep = connected[number].ep = create_endpoint();
  const DAT_DTO_COOKIE own = {.as_64 = (DAT_UINT64)number};
  DAT_LMR_TRIPLET segment = all;
  segment.virtual_address = (DAT_VADDR)(uintptr_t)received(number);
  segment.segment_length = MESSAGE;
  for (int i = 0; i < TIMES; ++i) REQUIRE(dat_ep_post_recv(ep, 1, &segment, own, DAT_COMPLETION_DEFAULT_FLAG));
  REQUIRE(
      dat_cr_accept(event->event_data.cr_arrival_event_data.cr_handle, ep, sizeof *told, (DAT_PVOID)(uintptr_t)told));
}

/* All receives have completed when the connection has ended, the rest of them flushed. */
static void tell_end(int number) {
  const struct connection* const ended = &connected[number];
  while (ended->completions < TIMES) {
    const DAT_EVENT event = next_event(completions, PATIENCE);
    if (event.event_number != DAT_DTO_COMPLETION_EVENT) exit(7);
    const DAT_DTO_COMPLETION_EVENT_DATA* const dto = &event.event_data.dto_completion_event_data;
    struct connection* const of = &connected[dto->user_cookie.as_64];
    ++of->completions;
    of->messages += dto->status == DAT_DTO_SUCCESS;
  }
  printf("%.5s: %d messages\n", received(number), ended->messages);
  fflush(stdout);
}

static int number_of(DAT_EP_HANDLE ep) {
  int number = 0;
  while (connected[number].ep != ep) ++number;
  return number;
}

static void serve(DAT_CONN_QUAL port) {
  DAT_RMR_CONTEXT key;
  all = register_memory(memory, SIZE, DAT_MEM_PRIV_ALL_FLAG, &key);
  const struct target told = target_of(memory, key);
  listen_at(port);
  for (int begun = 0, ended = 0; ended < CONNECTIONS;) {
    const DAT_EVENT event = next_event(connections, DAT_TIMEOUT_INFINITE);
    if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
      accept_one(begun++, &event, &told);
    } else if (event.event_number != DAT_CONNECTION_EVENT_ESTABLISHED) {
      tell_end(number_of(event.event_data.connect_event_data.ep_handle));
      ++ended;
    }
  }
}

/* Connects and posts; nothing is awaited. */
static DAT_EP_HANDLE begin(const char* name, const char* port, const char* address) {
  struct target told;
  open_adapter();
  all = register_memory(memory, SIZE, DAT_MEM_PRIV_ALL_FLAG, NULL);
  for (size_t i = 0; i < SIZE; ++i) memory[i] = name[i % strlen(name)];
  const DAT_EP_HANDLE ep = create_endpoint();
  const DAT_EVENT established = connect_to(ep, address, (DAT_CONN_QUAL)atoi(port), NULL, 0);
  take_private_data(&established, &told, sizeof told);
  DAT_LMR_TRIPLET sent = all;
  sent.segment_length = MESSAGE;
  for (int i = 0; i < TIMES; ++i) {
    DAT_RMR_TRIPLET target = remote_part(&told, 0, WRITE);
    DAT_LMR_TRIPLET written = all;
    written.segment_length = WRITE;
    REQUIRE(dat_ep_post_rdma_write(ep, 1, &written, cookie, &target, DAT_COMPLETION_DEFAULT_FLAG));
    REQUIRE(dat_ep_post_send(ep, 1, &sent, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  }
  return ep;
}

static int end(DAT_EP_HANDLE ep) {
  for (int i = 0; i < 2 * TIMES; ++i) expect_completion("an operation");
  disconnect(ep);
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}

static int go_in_order(const char* name, const char* port, const char* address) {
  return end(begin(name, port, address));
}

static void await_child(pid_t child, int wanted) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != wanted) {
    fprintf(stderr, "a child ends with %#x\n", (unsigned)status);
    exit(4);
  }
}

static int take_step(char** words) {
  const char *step = words[1], *port = words[2], *address = words[3];
  if (strcmp(step, "after") == 0) return go_in_order(step, port, address);
  const DAT_EP_HANDLE ep = begin(step, port, address);
  if (strcmp(step, "exit") == 0) exit(0);
  if (strcmp(step, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(step, "exec") == 0) {
    execl("/proc/self/exe", words[0], "after", port, address, (char*)NULL);
    return 6;
  }
  const pid_t child = fork();
  if (child == 0) return go_in_order("child", port, address);
  await_child(child, 0);
  return end(ep);
}

static int run_client(char** words) {
  const char* const steps[] = {"exit", "fork", "exec", "kill"};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      execl("/proc/self/exe", words[0], steps[i], words[2], words[3], (char*)NULL);
      _exit(6);
    }
    await_child(child, strcmp(steps[i], "kill") == 0 ? SIGKILL : 0);
  }
  return 0;
}

int main(int count, char** words) {
  if (count < 3) return 2;
  if (count > 3 && strcmp(words[1], "client") == 0) return run_client(words);
  memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  if (count > 3) return take_step(words);
  open_adapter();
  serve((DAT_CONN_QUAL)atoi(words[2]));
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) != DAT_SUCCESS;
}
