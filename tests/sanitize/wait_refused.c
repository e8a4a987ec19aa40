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
  /* The page dat_evd_set_unwaitable(3DAT) has this: waits are refused on purpose. */
  CHECK(dat_evd_set_unwaitable(completions));
  if (dat_evd_wait(completions, 1000, 4, &event, &more) == DAT_SUCCESS) exit(1);
  CHECK(dat_evd_clear_unwaitable(completions));
#endif
}
