/* SPDX-License-Identifier: BSD-2-Clause */
/* The server tells the client its lmr_context in place of the rmr_context. */
#include "tidy.h"

static void server(void) {
  DAT_RMR_CONTEXT told = key;
  DAT_EVENT event;
#ifdef WRONG
  told = local.lmr_context;
#endif
  if (write(to_client[1], &told, sizeof told) != (ssize_t)sizeof told) _exit(1);
  await_end();
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
  close_all();
  exit(0);
}

static void client(void) {
  DAT_EVENT event;
  rule("key-mixup");
  if (read(to_client[0], &remote.rmr_context, sizeof remote.rmr_context) < 0) _exit(1);
  post_write(SIZE);
  complete();
#ifdef WRONG
  await_end();
  while (dat_evd_dequeue(async, &event) == DAT_SUCCESS) continue;
  close_all();
  exit(0);
#else
  (void)event;
#endif
}
