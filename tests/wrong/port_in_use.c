/* SPDX-License-Identifier: BSD-2-Clause */
/* Two service points of one connection qualifier. */
#define ALONE
#include "pair.h"

/* dat_psp_create_any tries the ports in order. It passes over one that is taken, and says nothing. */
static void take_next_port(void) {
  struct sockaddr_in address = host();
  int taken = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_port = htons((in_port_t)(port + 1));
  if (bind(taken, (struct sockaddr*)&address, sizeof address) == 0) listen(taken, 1);
}

static void client(void) {
  DAT_PSP_HANDLE second;
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
#ifdef WRONG
  tell("this process listens there already");
#else
  CHECK(dat_psp_free(psp));
  take_next_port();
  CHECK(dat_psp_create_any(ia, &port, connections, DAT_PSP_CONSUMER_FLAG, &psp));
  CHECK(dat_psp_free(psp));
#endif
  REFUSED(dat_psp_create(ia, port, connections, DAT_PSP_CONSUMER_FLAG, &second));
}
