// SPDX-License-Identifier: BSD-2-Clause
// The operations behind dat_extension_op, one function each. Each takes its own arguments from the
// list; numbers of arguments in answers are those of dat_extension_op, so the first of them is 3.
#pragma once

#include <cstdarg>

#include "libdat/api/abi.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

using ExtendedOperation = DAT_RETURN(DAT_HANDLE handle, va_list arguments);

// extension_post.cc; `handle` is an EP's.
ExtendedOperation post_fetch_and_add;
ExtendedOperation post_cmp_and_swap;
ExtendedOperation post_rdma_write_immediate;

// extension_datagram.cc; `handle` is an EP's.
ExtendedOperation post_send_datagram;
ExtendedOperation free_exchange;
ExtendedOperation free_address_handle;

// extension_counters.cc; `handle` is that of an IA, EP or EVD.
ExtendedOperation query_counters;
ExtendedOperation print_counters;
ExtendedOperation start_counters;
ExtendedOperation stop_counters;

// extension_failure.cc; `handle` is an EP's.
ExtendedOperation last_failure;

// extension_query.cc. An open comes with an IA's name in place of a handle.
ExtendedOperation open_query;
ExtendedOperation close_query;

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
