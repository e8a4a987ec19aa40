// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/status.h"

#include <cerrno>

namespace softdat::verbs {

hca::Error error_of(int number) {
  switch (number) {
    case ENOMEM:
    // Descriptors run out like memory does, and DAT has one answer for both.
    case EMFILE:
    case ENFILE:
    case EAGAIN:
      return hca::Error::kNoMemory;
    case EADDRINUSE:
      return hca::Error::kAddressInUse;
    case EOPNOTSUPP:
    case ENOSYS:
      return hca::Error::kUnsupported;
    case EADDRNOTAVAIL:
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EACCES:
      return hca::Error::kBadAddress;
    case EBUSY:
      return hca::Error::kInvalidState;
    default:
      return hca::Error::kLimitReached;  // EINVAL too: what we ask is checked, so it is a limit that the device hides
  }
}

// Some drivers return errno negated.
bool is_refused(int number) {
  return number == EINVAL || number == -EINVAL;
}

bool is_disconnected(int number) {
  return number == ENOTCONN || number == -ENOTCONN;
}

hca::CompletionStatus status_of(ibv_wc_status status) {
  using enum hca::CompletionStatus;
  switch (status) {
    case IBV_WC_SUCCESS:
      return kSuccess;
    case IBV_WC_LOC_LEN_ERR:
      return kLocalLength;
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_EEC_OP_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_LOC_RDD_VIOL_ERR:
      return kLocalProtection;
    case IBV_WC_WR_FLUSH_ERR:
      return kFlushed;
    case IBV_WC_MW_BIND_ERR:
      return kBindFailed;
    case IBV_WC_REM_ACCESS_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
      return kRemoteAccess;
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR:
      return kRemoteOperation;
    // No acknowledgment came within all tries: the peer has died, or cannot be reached any more.
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
      return kRetryExceeded;
    // The peer has posted no receive in time.
    case IBV_WC_RNR_RETRY_EXC_ERR:
      return kRnrRetryExceeded;
    case IBV_WC_BAD_RESP_ERR:
    case IBV_WC_INV_EECN_ERR:
    case IBV_WC_INV_EEC_STATE_ERR:
    case IBV_WC_FATAL_ERR:
    case IBV_WC_GENERAL_ERR:
    case IBV_WC_TM_ERR:
    case IBV_WC_TM_RNDV_INCOMPLETE:
      return kBadResponse;
  }
  return kBadResponse;
}

const char* name_of(ibv_wc_status status) {
  struct Name {
    ibv_wc_status status;
    const char* text;
  };
#define SOFTDAT_NAME(constant) \
  Name {                       \
    constant, #constant        \
  }
  static constexpr Name kNames[] = {SOFTDAT_NAME(IBV_WC_SUCCESS),           SOFTDAT_NAME(IBV_WC_LOC_LEN_ERR),
                                    SOFTDAT_NAME(IBV_WC_LOC_QP_OP_ERR),     SOFTDAT_NAME(IBV_WC_LOC_EEC_OP_ERR),
                                    SOFTDAT_NAME(IBV_WC_LOC_PROT_ERR),      SOFTDAT_NAME(IBV_WC_WR_FLUSH_ERR),
                                    SOFTDAT_NAME(IBV_WC_MW_BIND_ERR),       SOFTDAT_NAME(IBV_WC_BAD_RESP_ERR),
                                    SOFTDAT_NAME(IBV_WC_LOC_ACCESS_ERR),    SOFTDAT_NAME(IBV_WC_REM_INV_REQ_ERR),
                                    SOFTDAT_NAME(IBV_WC_REM_ACCESS_ERR),    SOFTDAT_NAME(IBV_WC_REM_OP_ERR),
                                    SOFTDAT_NAME(IBV_WC_RETRY_EXC_ERR),     SOFTDAT_NAME(IBV_WC_RNR_RETRY_EXC_ERR),
                                    SOFTDAT_NAME(IBV_WC_LOC_RDD_VIOL_ERR),  SOFTDAT_NAME(IBV_WC_REM_INV_RD_REQ_ERR),
                                    SOFTDAT_NAME(IBV_WC_REM_ABORT_ERR),     SOFTDAT_NAME(IBV_WC_INV_EECN_ERR),
                                    SOFTDAT_NAME(IBV_WC_INV_EEC_STATE_ERR), SOFTDAT_NAME(IBV_WC_FATAL_ERR),
                                    SOFTDAT_NAME(IBV_WC_RESP_TIMEOUT_ERR),  SOFTDAT_NAME(IBV_WC_GENERAL_ERR)};
#undef SOFTDAT_NAME
  for (const Name& name : kNames) {
    if (name.status == status) return name.text;
  }
  return "an unknown status";
}

}  // namespace softdat::verbs
