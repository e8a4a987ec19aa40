/* SPDX-License-Identifier: BSD-2-Clause */
/* An EVD is freed before the endpoint whose events it takes. */
#define ALONE
#include "pair.h"

static void client(void) {
  DAT_EP_PARAM parameters;
  CHECK(dat_ep_query(ep, DAT_EP_FIELD_ALL, &parameters));
#ifdef WRONG
  tell("dat_evd_free, called by");
  tell("of live endpoints, service points or of its adapter; free these first");
#else
  CHECK(dat_ep_free(ep));
#endif
  REFUSED(dat_evd_free(parameters.connect_evd_handle));
}
