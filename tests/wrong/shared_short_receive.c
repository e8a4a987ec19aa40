/* SPDX-License-Identifier: BSD-2-Clause */
/* The same with a shared receive queue. */
#define SHARED
#include "short_receive.c"
