/* SPDX-License-Identifier: BSD-2-Clause */
/* branching_program [THREADS]: threads that poll and end, a child that opens an adapter of its own after a fork, and a
   child that becomes this program again. With THREADS it is only a process with so many threads. */
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "examples/example.h"

static void* poll_twice(void* unused) {
  const struct timespec pause = {0, 1000000};
  DAT_EVENT event;
  dat_evd_dequeue(completions, &event);
  nanosleep(&pause, NULL);
  dat_evd_dequeue(completions, &event);
  return unused;
}

static void use_threads(int count) {
  for (int i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, poll_twice, NULL) != 0) exit(3);
    pthread_join(thread, NULL);
  }
}

static void await_child(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) exit(4);
}

static int close_adapter(void) {
  return dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG) == DAT_SUCCESS ? 0 : 5;
}

static int be_alone(int threads) {
  open_adapter();
  use_threads(threads);
  return close_adapter();
}

int main(int count, char** words) {
  if (count > 1) return be_alone(atoi(words[1]));
  open_adapter();
  use_threads(20);
  pid_t child = fork();
  if (child == 0) return be_alone(5);
  await_child(child);
  child = fork();
  if (child == 0) {
    execl("/proc/self/exe", words[0], "3", (char*)NULL);
    _exit(6);
  }
  await_child(child);
  use_threads(10);
  return close_adapter();
}
