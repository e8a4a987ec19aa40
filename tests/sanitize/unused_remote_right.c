/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers may read the client's region, and never do. */
#define UNUSED DAT_MEM_PRIV_REMOTE_READ_FLAG
#include "one_right.h"
