// SPDX-License-Identifier: BSD-2-Clause
// Connection requests.
#include "libdat/registry/entry/dispatch.h"

// A CR can end by itself, when its peer gives up: nothing about one is remembered.
using softdat::registry::dispatch_ending;

extern "C" {

DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask, DAT_CR_PARAM* cr_param) {
  return dispatch_ending(cr_handle, DAT_INVALID_HANDLE_CR, &DAT_PROVIDER::cr_query_func, cr_param_mask, cr_param);
}

DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle, DAT_COUNT private_data_size,
                         const DAT_PVOID private_data) {
  return dispatch_ending(cr_handle, DAT_INVALID_HANDLE_CR, &DAT_PROVIDER::cr_accept_func, ep_handle, private_data_size,
                         private_data);
}

DAT_RETURN dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff) {
  return dispatch_ending(cr_handle, DAT_INVALID_HANDLE_CR, &DAT_PROVIDER::cr_handoff_func, handoff);
}

#if SOFTDAT_ABI == 20

DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size, const DAT_PVOID private_data) {
  return dispatch_ending(cr_handle, DAT_INVALID_HANDLE_CR, &DAT_PROVIDER::cr_reject_func, private_data_size,
                         private_data);
}

#else

DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr_handle) {
  return dispatch_ending(cr_handle, DAT_INVALID_HANDLE_CR, &DAT_PROVIDER::cr_reject_func);
}

#endif

}  // extern "C"
