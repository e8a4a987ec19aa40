/* SPDX-License-Identifier: BSD-2-Clause */
/* A threshold is larger than the EVD. */
#define ALONE
#define DTO_QLEN 4
#include "tidy.h"

static void client(void) {
  DAT_EVENT event;
  DAT_COUNT more;
  rule("wait-refused");
#ifdef WRONG
  dat_evd_wait(completions, 1000, 5, &event, &more);
#else
  dat_evd_wait(completions, 1000, 4, &event, &more);
#endif
}
