/* SPDX-License-Identifier: BSD-2-Clause */
/* More private data than the adapter takes. */
#define ALONE
#include "pair.h"

static void client(void) {
#ifdef WRONG
  static char data[200];
  struct sockaddr_in address = host();
  tell("private_data_size is 200, and the adapter takes 128 bytes at most");
  REFUSED(dat_ep_connect(ep, (DAT_IA_ADDRESS_PTR)&address, 61234, PATIENCE, sizeof data, data, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG));
#endif
}
