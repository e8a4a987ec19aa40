// SPDX-License-Identifier: BSD-2-Clause
// The way into the operations that DAT 2.0 leaves to extensions: those of InfiniBand.
#include "libdat/api/extension.h"

#if SOFTDAT_ABI == 20
#include <dat2/dat_softdat_extensions.h>
#endif

#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"

#if SOFTDAT_ABI == 20

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

// Null for what is not offered: collectives above all.
ExtendedOperation* find_operation(int operation) {
  switch (operation) {
    case DAT_IB_FETCH_AND_ADD_OP:
      return post_fetch_and_add;
    case DAT_IB_CMP_AND_SWAP_OP:
      return post_cmp_and_swap;
    case DAT_IB_RDMA_WRITE_IMMED_OP:
      return post_rdma_write_immediate;
    case DAT_IB_UD_SEND_OP:
      return post_send_datagram;
    case DAT_IB_UD_CM_FREE_OP:
      return free_exchange;
    case DAT_IB_UD_AH_FREE_OP:
      return free_address_handle;
    case DAT_IB_QUERY_COUNTERS_OP:
      return query_counters;
    case DAT_IB_PRINT_COUNTERS_OP:
      return print_counters;
    case DAT_IB_START_COUNTERS_OP:
      return start_counters;
    case DAT_IB_STOP_COUNTERS_OP:
      return stop_counters;
    case DAT_IB_OPEN_QUERY_OP:
      return open_query;
    case DAT_IB_CLOSE_QUERY_OP:
      return close_query;
    case DAT_SOFTDAT_LAST_FAILURE_OP:
      return last_failure;
    default:
      return nullptr;
  }
}

}  // namespace

DAT_RETURN handle_extendedop(DAT_HANDLE handle, DAT_EXTENDED_OP operation, va_list arguments) {
  ExtendedOperation* const function = find_operation(static_cast<int>(operation));
  // The only operation whose first argument is no handle, but the name of an IA.
  if (function == open_query) return open_query(handle, arguments);
  if (!object::HandleTable::instance().pin_any(handle)) return refuse_handle(StatusDetail::kInvalidHandle1);
  return function == nullptr ? refuse_function() : function(handle, arguments);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
