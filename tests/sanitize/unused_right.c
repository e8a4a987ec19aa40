/* SPDX-License-Identifier: BSD-2-Clause */
/* A region may be written locally, and never is. */
#define UNUSED DAT_MEM_PRIV_LOCAL_WRITE_FLAG
#include "one_right.h"
