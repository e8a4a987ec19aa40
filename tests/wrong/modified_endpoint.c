/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes that an endpoint cannot have, and fields that cannot be modified. */
#define RECEIVES 0
#include "pair.h"

static DAT_RETURN create(DAT_EP_ATTR attributes) {
  DAT_EP_HANDLE other;
  DAT_RETURN answer = dat_ep_create(ia, pz, completions, completions, connections, &attributes, &other);
  if (answer == DAT_SUCCESS) CHECK(dat_ep_free(other));
  return answer;
}

static void server(void) {
  DAT_EP_HANDLE idle;
  DAT_EP_PARAM defaults, wish;
  DAT_EP_ATTR attributes;
  CHECK(dat_ep_create(ia, pz, completions, completions, connections, NULL, &idle));
  CHECK(dat_ep_query(idle, DAT_EP_FIELD_ALL, &defaults));
  attributes = defaults.ep_attr;
  wish = defaults;
  wish.connect_evd_handle = connections;
  wish.pz_handle = pz;
#ifdef WRONG
  attributes.service_type = (DAT_SERVICE_TYPE)7;
  tell("service_type of the attributes is 7; the adapter has DAT_SERVICE_TYPE_RC (0)");
  REFUSED(create(attributes));
  attributes = defaults.ep_attr;
  attributes.qos = (DAT_QOS)0x40;
  tell("qos of the attributes is 0x40; that is more than the flags of DAT_QOS");
  REFUSED(create(attributes));
  attributes = defaults.ep_attr;
  attributes.recv_completion_flags = DAT_COMPLETION_SUPPRESS_FLAG;
  tell("recv_completion_flags of the attributes is 0x1; one of DAT_COMPLETION_SOLICITED_WAIT_FLAG");
  REFUSED(create(attributes));
  attributes = defaults.ep_attr;
  attributes.request_completion_flags = DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_EVD_THRESHOLD_FLAG;
  tell("DAT_COMPLETION_UNSIGNALLED_FLAG and DAT_COMPLETION_EVD_THRESHOLD_FLAG exclude each other");
  REFUSED(create(attributes));
  attributes = defaults.ep_attr;
  attributes.srq_soft_hw = -5;
  tell("srq_soft_hw of the attributes is -5; 0 or more is allowed, or DAT_HW_DEFAULT");
  REFUSED(create(attributes));
  attributes = defaults.ep_attr;
  attributes.max_request_iov = 4711;
  tell("max_request_iov is 4711, and the adapter takes 0 to");
  REFUSED(create(attributes));
  wish.ep_attr.max_recv_dtos = -3;
  tell("dat_ep_modify, called by server at modified_endpoint.c:");
  tell("max_recv_dtos is -3, and the adapter takes 0 to");
  REFUSED(dat_ep_modify(idle, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &wish));
  tell("ep_param_mask names ia_handle, remote_port_qual, which no call can change");
  REFUSED(dat_ep_modify(idle, DAT_EP_FIELD_IA_HANDLE | DAT_EP_FIELD_REMOTE_PORT_QUAL, &wish));
  wish.request_evd_handle = connections;
  tell(
      "request_evd_handle of ep_param is that of an EVD with evd_flags DAT_EVD_CR_FLAG | DAT_EVD_CONNECTION_FLAG, "
      "made by open_all at pair.h:");
  tell("allowed is an EVD of this adapter with DAT_EVD_DTO_FLAG");
  REFUSED(dat_ep_modify(idle, DAT_EP_FIELD_REQUEST_EVD_HANDLE, &wish));
  wish.pz_handle = lmr;
  tell("pz_handle of ep_param is that of an LMR, made by register_memory at pair.h:");
  REFUSED(dat_ep_modify(idle, DAT_EP_FIELD_PZ_HANDLE, &wish));
  tell("is CONNECTED, and the EVDs and attributes can be modified only before it is connected");
  REFUSED(dat_ep_modify(ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &wish));
  CHECK(dat_ep_post_recv(idle, 1, &local, cookie, DAT_COMPLETION_DEFAULT_FLAG));
  wish.pz_handle = DAT_HANDLE_NULL;
  tell("1 receive is posted on endpoint %p, made by server at modified_endpoint.c:", idle);
  tell("so that pz_handle cannot become DAT_HANDLE_NULL; modify it before receives are posted");
  REFUSED(dat_ep_modify(idle, DAT_EP_FIELD_PZ_HANDLE, &wish));
#endif
  REFUSED(create(defaults.ep_attr));
  wish = defaults;
  wish.ep_attr.max_recv_dtos = 32;
  REFUSED(dat_ep_modify(idle, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS | DAT_EP_FIELD_CONNECT_EVD_HANDLE, &wish));
  wake(to_client);
}

static void client(void) {
  await(to_client);
}
