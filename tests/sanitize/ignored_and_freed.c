/* SPDX-License-Identifier: BSD-2-Clause */
/* As ignored_before_end.c, and the client frees the endpoint and the EVD. */
#define FREED
#include "ignored_before_end.c"
