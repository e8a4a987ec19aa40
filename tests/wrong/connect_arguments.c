/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection is asked for at the address of nobody, with a quality and a multipath that the adapter lacks, and like
 * an endpoint that is not connected. */
#include "pair.h"

static void server(void) {}

static void client(void) {
  DAT_EP_HANDLE other, model = ep;
  struct sockaddr_in address = host();
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &other));
#ifdef WRONG
  DAT_EP_HANDLE idle;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &idle));
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  tell("dat_ep_connect, called by client at connect_arguments.c:");
  tell("remote_ia_address is 0.0.0.0, which is the address of no single host");
  REFUSED(dat_ep_connect(other, (DAT_IA_ADDRESS_PTR)&address, port, PATIENCE, 0, NULL, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_DEFAULT_FLAG));
  address = host();
  tell("qos is 128, which is no value of DAT_QOS");
  REFUSED(dat_ep_connect(other, (DAT_IA_ADDRESS_PTR)&address, port, PATIENCE, 0, NULL, (DAT_QOS)128,
                         DAT_CONNECT_DEFAULT_FLAG));
  tell("connect_flags has DAT_CONNECT_MULTIPATH_REQUIRED_FLAG, and the adapter has one path");
  REFUSED(dat_ep_connect(other, (DAT_IA_ADDRESS_PTR)&address, port, PATIENCE, 0, NULL, DAT_QOS_BEST_EFFORT,
                         DAT_CONNECT_MULTIPATH_REQUIRED_FLAG));
  tell("dup_ep_handle, endpoint %p, made by client at connect_arguments.c:", idle);
  tell("is UNCONNECTED; only a connected endpoint can be a model");
  model = idle;
  REFUSED(dat_ep_dup_connect(other, model, PATIENCE, 0, NULL, DAT_QOS_BEST_EFFORT));
#else
  (void)address;
  (void)model;
#endif
}
