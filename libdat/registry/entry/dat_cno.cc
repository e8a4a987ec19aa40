// SPDX-License-Identifier: BSD-2-Clause
// Consumer notification objects.
#include "libdat/registry/entry/dispatch.h"

using softdat::registry::dispatch;
using softdat::registry::dispatch_ending;
using softdat::registry::dispatch_ia;

extern "C" {

DAT_RETURN dat_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE* cno_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::cno_create_func, agent, cno_handle);
}

DAT_RETURN dat_cno_modify_agent(DAT_CNO_HANDLE cno_handle, DAT_OS_WAIT_PROXY_AGENT agent) {
  return dispatch(cno_handle, DAT_INVALID_HANDLE_CNO, &DAT_PROVIDER::cno_modify_agent_func, agent);
}

DAT_RETURN dat_cno_query(DAT_CNO_HANDLE cno_handle, DAT_CNO_PARAM_MASK cno_param_mask, DAT_CNO_PARAM* cno_param) {
  return dispatch(cno_handle, DAT_INVALID_HANDLE_CNO, &DAT_PROVIDER::cno_query_func, cno_param_mask, cno_param);
}

DAT_RETURN dat_cno_free(DAT_CNO_HANDLE cno_handle) {
  return dispatch_ending(cno_handle, DAT_INVALID_HANDLE_CNO, &DAT_PROVIDER::cno_free_func);
}

DAT_RETURN dat_cno_wait(DAT_CNO_HANDLE cno_handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE* evd_handle) {
  return dispatch(cno_handle, DAT_INVALID_HANDLE_CNO, &DAT_PROVIDER::cno_wait_func, timeout, evd_handle);
}

#if SOFTDAT_ABI == 20

DAT_RETURN dat_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD* file_descriptor, DAT_CNO_HANDLE* cno_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::cno_fd_create_func, file_descriptor, cno_handle);
}

DAT_RETURN dat_cno_trigger(DAT_CNO_HANDLE cno_handle, DAT_EVD_HANDLE* evd_handle) {
  return dispatch(cno_handle, DAT_INVALID_HANDLE_CNO, &DAT_PROVIDER::cno_trigger_func, evd_handle);
}

#endif

}  // extern "C"
