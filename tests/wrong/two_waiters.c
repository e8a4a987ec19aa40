/* SPDX-License-Identifier: BSD-2-Clause */
/* Two threads wait on one EVD, and a wait is made on an EVD that was declared unwaitable. */
#define ALONE
#include <pthread.h>

#include "pair.h"

static DAT_EVD_HANDLE shared;

static DAT_RETURN wait_for(DAT_TIMEOUT time) {
  DAT_EVENT event;
  DAT_COUNT more;
  return dat_evd_wait(shared, time, 1, &event, &more);
}

/* Who comes second is refused, and tries again. */
static void* wait_there(void* unused) {
  while (wait_for(PATIENCE) != DAT_SUCCESS) usleep(1000);
  return unused;
}

static void client(void) {
  DAT_EVENT event = {.event_number = DAT_SOFTWARE_EVENT};
  pthread_t thread;
  CHECK(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &shared));
  if (pthread_create(&thread, NULL, wait_there, NULL) != 0) fail("pthread_create", 0);
#ifdef WRONG
  tell("dat_evd_wait, called by wait_for at two_waiters.c:");
  tell("another thread waits on the EVD, which takes one waiter at a time");
  while (DAT_GET_TYPE(wait_for(1000)) == DAT_TIMEOUT_EXPIRED) usleep(20000);
#endif
  CHECK(dat_evd_post_se(shared, &event));
  pthread_join(thread, NULL);
#ifdef WRONG
  CHECK(dat_evd_set_unwaitable(shared));
  tell("the EVD is unwaitable, or became so meanwhile; dat_evd_clear_unwaitable ends that");
#endif
  CHECK(dat_evd_post_se(shared, &event));
  REFUSED(wait_for(PATIENCE));
}
