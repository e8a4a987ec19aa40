/* SPDX-License-Identifier: BSD-2-Clause */
/* The names that the examples of the manual pages take for granted (dat(3)). EXAMPLE_API is the header of one API. */
#ifndef NAMES_H
#define NAMES_H
#include EXAMPLE_API

#include <endian.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if DAT_VERSION_MAJOR == 2
#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_registry.h>
static DAT_CSP_HANDLE service_point;
#else
#include <dat/dat_registry.h>
#endif

static DAT_IA_HANDLE ia;
static DAT_IA_ATTR attr;
static DAT_IA_ADDRESS_PTR address;
static DAT_PZ_HANDLE pz;
static DAT_EVD_HANDLE async, connections, completions, evd;
static DAT_CNO_HANDLE cno;
static DAT_EP_HANDLE ep, other;
static DAT_LMR_HANDLE lmr;
static DAT_RMR_HANDLE rmr;
static DAT_RMR_CONTEXT key;
static DAT_PSP_HANDLE psp;
static DAT_RSP_HANDLE rsp;
static DAT_CR_HANDLE request;
static DAT_SRQ_HANDLE srq;
static DAT_LMR_TRIPLET local;
static DAT_RMR_TRIPLET remote;
static DAT_DTO_COOKIE cookie;
static DAT_EVENT event;
static DAT_COUNT more;
static DAT_RETURN status;
static char memory[4096];
static inline void take(const DAT_EVENT* taken) {
  (void)taken;
}

#endif
