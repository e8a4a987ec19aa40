// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues.
#include "libdat/registry/entry/dispatch.h"

using softdat::registry::dispatch;
using softdat::registry::dispatch_ending;
using softdat::registry::dispatch_ia;

extern "C" {

DAT_RETURN dat_srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* srq_attr,
                          DAT_SRQ_HANDLE* srq_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::srq_create_func, pz_handle, srq_attr, srq_handle);
}

DAT_RETURN dat_srq_free(DAT_SRQ_HANDLE srq_handle) {
  return dispatch_ending(srq_handle, DAT_INVALID_HANDLE_SRQ, &DAT_PROVIDER::srq_free_func);
}

DAT_RETURN dat_srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* local_iov,
                             DAT_DTO_COOKIE user_cookie) {
  return dispatch(srq_handle, DAT_INVALID_HANDLE_SRQ, &DAT_PROVIDER::srq_post_recv_func, num_segments, local_iov,
                  user_cookie);
}

DAT_RETURN dat_srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK srq_param_mask, DAT_SRQ_PARAM* srq_param) {
  return dispatch(srq_handle, DAT_INVALID_HANDLE_SRQ, &DAT_PROVIDER::srq_query_func, srq_param_mask, srq_param);
}

DAT_RETURN dat_srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT srq_max_recv_dto) {
  return dispatch(srq_handle, DAT_INVALID_HANDLE_SRQ, &DAT_PROVIDER::srq_resize_func, srq_max_recv_dto);
}

DAT_RETURN dat_srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark) {
  return dispatch(srq_handle, DAT_INVALID_HANDLE_SRQ, &DAT_PROVIDER::srq_set_lw_func, low_watermark);
}

}  // extern "C"
