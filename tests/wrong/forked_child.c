/* SPDX-License-Identifier: BSD-2-Clause */
/* A child uses what its parent has opened. */
#define ALONE
#include "pair.h"

static void client(void) {
  int status;
  pid_t child;
#ifdef WRONG
  tell("ia_handle is that of an IA of the parent process, made by open_all at pair.h:");
  tell("evd_handle is that of an EVD of the parent process");
  tell("a child made by fork() has none of its parent's objects, and opens its own adapter");
#endif
  child = fork();
  if (child == 0) {
    DAT_EVENT event;
#ifndef WRONG
    DAT_EVD_HANDLE none = DAT_HANDLE_NULL;
    CHECK(dat_ia_open("sim1", 8, &none, &ia));
    CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &completions));
#endif
    REFUSED(dat_pz_create(ia, &pz));
    (void)dat_evd_dequeue(completions, &event);
    _exit(0);
  }
  waitpid(child, &status, 0);
}
