// SPDX-License-Identifier: BSD-2-Clause
// Public, reserved and common service points.
#include "libdat/registry/entry/dispatch.h"

using softdat::registry::dispatch;
using softdat::registry::dispatch_ending;
using softdat::registry::dispatch_ia;

extern "C" {

DAT_RETURN dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EVD_HANDLE evd_handle,
                          DAT_PSP_FLAGS psp_flags, DAT_PSP_HANDLE* psp_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::psp_create_func, conn_qual, evd_handle, psp_flags, psp_handle);
}

DAT_RETURN dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL* conn_qual, DAT_EVD_HANDLE evd_handle,
                              DAT_PSP_FLAGS psp_flags, DAT_PSP_HANDLE* psp_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::psp_create_any_func, conn_qual, evd_handle, psp_flags, psp_handle);
}

DAT_RETURN dat_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask, DAT_PSP_PARAM* psp_param) {
  return dispatch(psp_handle, DAT_INVALID_HANDLE_PSP, &DAT_PROVIDER::psp_query_func, psp_param_mask, psp_param);
}

DAT_RETURN dat_psp_free(DAT_PSP_HANDLE psp_handle) {
  return dispatch_ending(psp_handle, DAT_INVALID_HANDLE_PSP, &DAT_PROVIDER::psp_free_func);
}

DAT_RETURN dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                          DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE* rsp_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::rsp_create_func, conn_qual, ep_handle, evd_handle, rsp_handle);
}

DAT_RETURN dat_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask, DAT_RSP_PARAM* rsp_param) {
  return dispatch(rsp_handle, DAT_INVALID_HANDLE_RSP, &DAT_PROVIDER::rsp_query_func, rsp_param_mask, rsp_param);
}

DAT_RETURN dat_rsp_free(DAT_RSP_HANDLE rsp_handle) {
  return dispatch_ending(rsp_handle, DAT_INVALID_HANDLE_RSP, &DAT_PROVIDER::rsp_free_func);
}

#if SOFTDAT_ABI == 20

DAT_RETURN dat_csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM* communicator, DAT_IA_ADDRESS_PTR address,
                          DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE* csp_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::csp_create_func, communicator, address, evd_handle, csp_handle);
}

DAT_RETURN dat_csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK csp_param_mask, DAT_CSP_PARAM* csp_param) {
  return dispatch(csp_handle, DAT_INVALID_HANDLE_CSP, &DAT_PROVIDER::csp_query_func, csp_param_mask, csp_param);
}

DAT_RETURN dat_csp_free(DAT_CSP_HANDLE csp_handle) {
  return dispatch_ending(csp_handle, DAT_INVALID_HANDLE_CSP, &DAT_PROVIDER::csp_free_func);
}

#endif

}  // extern "C"
