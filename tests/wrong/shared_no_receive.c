/* SPDX-License-Identifier: BSD-2-Clause */
/* The same with a shared receive queue. */
#define SHARED
#define CAUSE "the shared receive queue is empty"
#include "no_receive.c"
