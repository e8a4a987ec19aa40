// SPDX-License-Identifier: BSD-2-Clause
// From the words of verbs to those of the port; each translation is total.
#pragma once

#include "hca/result.h"
#include "hca/types.h"
#include "verbs/library.h"

namespace softdat::verbs {

// Of an errno that a creating call left or returned.
hca::Error error_of(int number);

// A driver did not like what was posted; some say so by a negative number.
bool is_refused(int number);
// It does not take what was posted for a connection any more; some say so by a negative number.
bool is_disconnected(int number);

hca::CompletionStatus status_of(ibv_wc_status status);

// "IBV_WC_REM_ACCESS_ERR".
const char* name_of(ibv_wc_status status);

// Of a receive that succeeded. Inline, because every message passes through it.
inline hca::CompletionOpcode opcode_of_receive(const ibv_wc& wc) {
  if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) return hca::CompletionOpcode::kRecvWriteImmediate;
  // Soft-RoCE tells by the kernel's own number, which here means what no connected queue pair has.
  constexpr unsigned kInvalidate = IBV_WC_WITH_INV | IBV_WC_IP_CSUM_OK;
  if ((wc.wc_flags & kInvalidate) != 0) return hca::CompletionOpcode::kRecvInvalidate;
  return hca::CompletionOpcode::kRecv;
}

}  // namespace softdat::verbs
