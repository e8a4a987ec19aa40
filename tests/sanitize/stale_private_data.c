/* SPDX-License-Identifier: BSD-2-Clause */
/* The server reads the private data of a connection request that it has accepted. */
static char greeting;
static void take_greeting(void* request);
#define HELLO "hello"
#define BEFORE_ACCEPT take_greeting
#include "tidy.h"

static DAT_CR_PARAM asked;

static void take_greeting(void* request) {
  CHECK(dat_cr_query(request, DAT_CR_FIELD_ALL, &asked));
  greeting = *(const char*)asked.private_data;
}

static void server(void) {
  rule("stale-private-data");
#ifdef WRONG
  greeting = *(volatile const char*)asked.private_data;
#endif
  if (greeting != 'h') fail("private data", (unsigned)greeting);
}

static void client(void) {}
