/* SPDX-License-Identifier: BSD-2-Clause */
/* The descriptor of a CNO is polled again although one event of two was dequeued. */
#define ALONE
#include <poll.h>

#include "tidy.h"

static void client(void) {
  DAT_CNO_HANDLE cno;
  DAT_FD fd;
  struct pollfd readable = {.events = POLLIN};
  DAT_EVD_HANDLE software, woken;
  DAT_EVENT event;
  int i;
  rule("partial-drain");
  CHECK(dat_cno_fd_create(ia, &fd, &cno));
  readable.fd = fd;
  CHECK(dat_evd_create(ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, &software));
  for (i = 0; i < 2; ++i) {
    memset(&event, 0, sizeof event);
    event.event_number = DAT_SOFTWARE_EVENT;
    CHECK(dat_evd_post_se(software, &event));
  }
  if (poll(&readable, 1, 30000) != 1) fail("poll", 0);
  CHECK(dat_cno_wait(cno, PATIENCE, &woken));
  CHECK(dat_evd_dequeue(software, &event));
#ifndef WRONG
  CHECK(dat_evd_dequeue(software, &event));
#endif
  poll(&readable, 1, 1);
  dat_cno_wait(cno, 1000, &woken);
}
