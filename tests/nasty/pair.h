/* SPDX-License-Identifier: BSD-2-Clause */
/* tests/wrong/pair.h for programs that the nasty mode finds out. A program that is WRONG relies on what DAT does not
 * promise; hold() tells when that fails. */
#ifndef SOFTDAT_TESTS_NASTY_PAIR_H
#define SOFTDAT_TESTS_NASTY_PAIR_H

#define SIZE 256
#define RECEIVES 0
#include "../wrong/pair.h"

#define ROUNDS 16
#define MESSAGE 64
#define HALF 128 /* of the region: writes and reads go to the first half, receives to the second */

static void end_surprised(void) {
  fflush(stdout);
  _exit(1);
}

/* Goes on, so that the other process does not wait in vain, but the program will end with status 1. */
static void hold(int is_so, const char* what) {
  static int is_told;
  if (is_so || is_told) return;
  is_told = 1;
  printf("surprise: %s\n", what);
  atexit(end_surprised);
}

static void post_receive_behind(DAT_VLEN length) {
  DAT_LMR_TRIPLET to = segment(local.virtual_address + HALF, length, local.lmr_context);
  CHECK(dat_ep_post_recv(ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG));
}

static DAT_DTO_COMPLETION_EVENT_DATA next_completion(void) {
  DAT_EVENT event = expect(completions, DAT_DTO_COMPLETION_EVENT);
  DAT_DTO_COMPLETION_EVENT_DATA data = event.event_data.dto_completion_event_data;
  if (data.status != DAT_DTO_SUCCESS) fail("completion", (unsigned)data.status);
  return data;
}

static int is_filled_with(const char* bytes, size_t length, char value) {
  size_t i;
  for (i = 0; i < length; ++i) {
    if (((const volatile char*)bytes)[i] != value) return 0;
  }
  return 1;
}

#endif
