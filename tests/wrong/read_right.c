/* SPDX-License-Identifier: BSD-2-Clause */
/* The server's region lacks the right of remote read. */
#ifdef WRONG
#define SERVER_RIGHTS (DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG | DAT_MEM_PRIV_REMOTE_WRITE_FLAG)
#endif
#include "pair.h"

static void server(void) {}

static void client(void) {
#ifdef WRONG
  tell("rmr_context 0x%x lacks the right of remote read", remote.rmr_context);
#endif
  post_read(SIZE);
  complete_well();
}
