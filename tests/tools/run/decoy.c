/* SPDX-License-Identifier: BSD-2-Clause */
/* A libdat2.so.2 that is not SoftDAT's and opens nothing: in the directory that a program's DT_RPATH names. */
#include <stdio.h>

#define REFUSE(function)              \
  unsigned function(void);            \
  unsigned function(void) {           \
    printf("the decoy was loaded\n"); \
    return 0x80000000u;               \
  }

REFUSE(dat_ia_openv)
REFUSE(dat_ia_close)
REFUSE(dat_ia_query)
REFUSE(dat_evd_create)
REFUSE(dat_evd_wait)
REFUSE(dat_pz_create)
REFUSE(dat_ep_create)
REFUSE(dat_ep_connect)
REFUSE(dat_ep_disconnect)
REFUSE(dat_psp_create)
REFUSE(dat_cr_accept)
