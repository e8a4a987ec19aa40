// SPDX-License-Identifier: BSD-2-Clause
// Protection zones, local and remote memory regions.
#include "libdat/registry/entry/dispatch.h"

using softdat::registry::dispatch;
using softdat::registry::dispatch_ending;
using softdat::registry::dispatch_ia;

extern "C" {

DAT_RETURN dat_pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::pz_create_func, pz_handle);
}

DAT_RETURN dat_pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK pz_param_mask, DAT_PZ_PARAM* pz_param) {
  return dispatch(pz_handle, DAT_INVALID_HANDLE_PZ, &DAT_PROVIDER::pz_query_func, pz_param_mask, pz_param);
}

DAT_RETURN dat_pz_free(DAT_PZ_HANDLE pz_handle) {
  return dispatch_ending(pz_handle, DAT_INVALID_HANDLE_PZ, &DAT_PROVIDER::pz_free_func);
}

DAT_RETURN dat_lmr_free(DAT_LMR_HANDLE lmr_handle) {
  return dispatch_ending(lmr_handle, DAT_INVALID_HANDLE_LMR, &DAT_PROVIDER::lmr_free_func);
}

DAT_RETURN dat_lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                  DAT_VLEN num_segments) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::lmr_sync_rdma_read_func, local_segments, num_segments);
}

DAT_RETURN dat_lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* local_segments,
                                   DAT_VLEN num_segments) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::lmr_sync_rdma_write_func, local_segments, num_segments);
}

DAT_RETURN dat_lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK lmr_param_mask, DAT_LMR_PARAM* lmr_param) {
  return dispatch(lmr_handle, DAT_INVALID_HANDLE_LMR, &DAT_PROVIDER::lmr_query_func, lmr_param_mask, lmr_param);
}

DAT_RETURN dat_rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  return dispatch(pz_handle, DAT_INVALID_HANDLE_PZ, &DAT_PROVIDER::rmr_create_func, rmr_handle);
}

DAT_RETURN dat_rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK rmr_param_mask, DAT_RMR_PARAM* rmr_param) {
  return dispatch(rmr_handle, DAT_INVALID_HANDLE_RMR, &DAT_PROVIDER::rmr_query_func, rmr_param_mask, rmr_param);
}

DAT_RETURN dat_rmr_free(DAT_RMR_HANDLE rmr_handle) {
  return dispatch_ending(rmr_handle, DAT_INVALID_HANDLE_RMR, &DAT_PROVIDER::rmr_free_func);
}

#if SOFTDAT_ABI == 20

DAT_RETURN dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region_description,
                          DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
                          DAT_LMR_HANDLE* lmr_handle, DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context,
                          DAT_VLEN* registered_length, DAT_VADDR* registered_address) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::lmr_create_func, mem_type, region_description, length, pz_handle,
                     privileges, va_type, lmr_handle, lmr_context, rmr_context, registered_length, registered_address);
}

DAT_RETURN dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle, const DAT_LMR_TRIPLET* lmr_triplet,
                        DAT_MEM_PRIV_FLAGS mem_priv, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle,
                        DAT_RMR_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags, DAT_RMR_CONTEXT* context) {
  return dispatch(rmr_handle, DAT_INVALID_HANDLE_RMR, &DAT_PROVIDER::rmr_bind_func, lmr_handle, lmr_triplet, mem_priv,
                  va_type, ep_handle, user_cookie, completion_flags, context);
}

DAT_RETURN dat_rmr_create_for_ep(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  return dispatch(pz_handle, DAT_INVALID_HANDLE_PZ, &DAT_PROVIDER::rmr_create_for_ep_func, rmr_handle);
}

#else

DAT_RETURN dat_lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region_description,
                          DAT_VLEN length, DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges,
                          DAT_LMR_HANDLE* lmr_handle, DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context,
                          DAT_VLEN* registered_length, DAT_VADDR* registered_address) {
  return dispatch_ia(ia_handle, &DAT_PROVIDER::lmr_create_func, mem_type, region_description, length, pz_handle,
                     privileges, lmr_handle, lmr_context, rmr_context, registered_length, registered_address);
}

DAT_RETURN dat_rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET* lmr_triplet, DAT_MEM_PRIV_FLAGS mem_priv,
                        DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE user_cookie, DAT_COMPLETION_FLAGS completion_flags,
                        DAT_RMR_CONTEXT* context) {
  return dispatch(rmr_handle, DAT_INVALID_HANDLE_RMR, &DAT_PROVIDER::rmr_bind_func, lmr_triplet, mem_priv, ep_handle,
                  user_cookie, completion_flags, context);
}

#endif

}  // extern "C"
