// SPDX-License-Identifier: BSD-2-Clause
// Event dispatchers.
#include "libdat/registry/entry/dispatch.h"

using softdat::registry::dispatch;
using softdat::registry::dispatch_ending;
using softdat::registry::dispatch_ia;
// DAT 2.0 calls a wrong EVD INVALID_HANDLE_EVD_REQUEST, DAT 1.2 INVALID_HANDLE1.
using softdat::registry::kEvdSubtype;

extern "C" {

DAT_RETURN dat_evd_resize(DAT_EVD_HANDLE evd_handle, DAT_COUNT evd_min_qlen) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_resize_func, evd_min_qlen);
}

DAT_RETURN dat_evd_post_se(DAT_EVD_HANDLE evd_handle, const DAT_EVENT* event) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_post_se_func, event);
}

DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd_handle, DAT_EVENT* event) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_dequeue_func, event);
}

DAT_RETURN dat_evd_query(DAT_EVD_HANDLE evd_handle, DAT_EVD_PARAM_MASK evd_param_mask, DAT_EVD_PARAM* evd_param) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_query_func, evd_param_mask, evd_param);
}

DAT_RETURN dat_evd_free(DAT_EVD_HANDLE evd_handle) {
  return dispatch_ending(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_free_func);
}

DAT_RETURN dat_evd_create(DAT_IA_HANDLE ia_handle, DAT_COUNT evd_min_qlen, DAT_CNO_HANDLE cno_handle,
                          DAT_EVD_FLAGS evd_flags, DAT_EVD_HANDLE* evd_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::evd_create_func, evd_min_qlen, cno_handle, evd_flags, evd_handle);
}

DAT_RETURN dat_evd_modify_cno(DAT_EVD_HANDLE evd_handle, DAT_CNO_HANDLE cno_handle) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_modify_cno_func, cno_handle);
}

DAT_RETURN dat_evd_enable(DAT_EVD_HANDLE evd_handle) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_enable_func);
}

DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd_handle, DAT_TIMEOUT timeout, DAT_COUNT threshold, DAT_EVENT* event,
                        DAT_COUNT* n_more_events) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_wait_func, timeout, threshold, event, n_more_events);
}

DAT_RETURN dat_evd_disable(DAT_EVD_HANDLE evd_handle) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_disable_func);
}

DAT_RETURN dat_evd_set_unwaitable(DAT_EVD_HANDLE evd_handle) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_set_unwaitable_func);
}

DAT_RETURN dat_evd_clear_unwaitable(DAT_EVD_HANDLE evd_handle) {
  return dispatch(evd_handle, kEvdSubtype, &DAT_PROVIDER::evd_clear_unwaitable_func);
}

}  // extern "C"
