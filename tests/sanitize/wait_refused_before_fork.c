/* SPDX-License-Identifier: BSD-2-Clause */
/* As wait_refused.c, and a child of the process ends, whose findings are not those of its parent. */
#define ALONE
#define DTO_QLEN 4
#include <sys/wait.h>
#include <unistd.h>

#include "tidy.h"

static void client(void) {
  DAT_EVENT event;
  DAT_COUNT more;
  pid_t child;
  rule("wait-refused");
#ifdef WRONG
  dat_evd_wait(completions, 1000, 5, &event, &more);
#else
  dat_evd_wait(completions, 1000, 4, &event, &more);
#endif
  child = fork();
  if (child == 0) exit(0);
  waitpid(child, NULL, 0);
}
