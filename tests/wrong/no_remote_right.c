/* SPDX-License-Identifier: BSD-2-Clause */
/* The server's region has no remote right at all. */
#ifdef WRONG
#define SERVER_RIGHTS (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG)
#endif
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell("rmr_context 0x%x lacks the right of remote write", remote.rmr_context);
  tell_range(remote.virtual_address, SIZE);
#endif
  post_write(SIZE);
  complete_well();
}
