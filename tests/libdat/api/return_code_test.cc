// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/return_code.h"

#include <gtest/gtest.h>

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Status;
using object::StatusDetail;
using object::StatusType;

struct TypeRow {
  StatusType type;
  DAT_RETURN spelled;
};

constexpr TypeRow kTypes[] = {
    {StatusType::kSuccess, static_cast<DAT_RETURN>(DAT_SUCCESS)},
    {StatusType::kAbort, static_cast<DAT_RETURN>(DAT_ABORT)},
    {StatusType::kConnQualInUse, static_cast<DAT_RETURN>(DAT_CONN_QUAL_IN_USE)},
    {StatusType::kInsufficientResources, static_cast<DAT_RETURN>(DAT_INSUFFICIENT_RESOURCES)},
    {StatusType::kInternalError, static_cast<DAT_RETURN>(DAT_INTERNAL_ERROR)},
    {StatusType::kInvalidHandle, static_cast<DAT_RETURN>(DAT_INVALID_HANDLE)},
    {StatusType::kInvalidParameter, static_cast<DAT_RETURN>(DAT_INVALID_PARAMETER)},
    {StatusType::kInvalidState, static_cast<DAT_RETURN>(DAT_INVALID_STATE)},
    {StatusType::kLengthError, static_cast<DAT_RETURN>(DAT_LENGTH_ERROR)},
    {StatusType::kModelNotSupported, static_cast<DAT_RETURN>(DAT_MODEL_NOT_SUPPORTED)},
    {StatusType::kProviderNotFound, static_cast<DAT_RETURN>(DAT_PROVIDER_NOT_FOUND)},
    {StatusType::kPrivilegesViolation, static_cast<DAT_RETURN>(DAT_PRIVILEGES_VIOLATION)},
    {StatusType::kProtectionViolation, static_cast<DAT_RETURN>(DAT_PROTECTION_VIOLATION)},
    {StatusType::kQueueEmpty, static_cast<DAT_RETURN>(DAT_QUEUE_EMPTY)},
    {StatusType::kQueueFull, static_cast<DAT_RETURN>(DAT_QUEUE_FULL)},
    {StatusType::kTimeoutExpired, static_cast<DAT_RETURN>(DAT_TIMEOUT_EXPIRED)},
    {StatusType::kProviderAlreadyRegistered, static_cast<DAT_RETURN>(DAT_PROVIDER_ALREADY_REGISTERED)},
    {StatusType::kProviderInUse, static_cast<DAT_RETURN>(DAT_PROVIDER_IN_USE)},
    {StatusType::kInvalidAddress, static_cast<DAT_RETURN>(DAT_INVALID_ADDRESS)},
    {StatusType::kInterruptedCall, static_cast<DAT_RETURN>(DAT_INTERRUPTED_CALL)},
    {StatusType::kConnQualUnavailable, static_cast<DAT_RETURN>(DAT_CONN_QUAL_UNAVAILABLE)},
#if SOFTDAT_ABI == 20
    {StatusType::kReservedLmr, static_cast<DAT_RETURN>(DAT_RESERVED_LMR)},
    {StatusType::kPortInUse, static_cast<DAT_RETURN>(DAT_PORT_IN_USE)},
    {StatusType::kCommNotSupported, static_cast<DAT_RETURN>(DAT_COMM_NOT_SUPPORTED)},
#endif
    {StatusType::kNotImplemented, static_cast<DAT_RETURN>(DAT_NOT_IMPLEMENTED)},
};

struct DetailRow {
  StatusDetail detail;
  DAT_RETURN_SUBTYPE spelled;
};

constexpr DetailRow kDetails[] = {
    {StatusDetail::kNoSubtype, DAT_NO_SUBTYPE},
    {StatusDetail::kSubInterrupted, DAT_SUB_INTERRUPTED},
    {StatusDetail::kResourceMemory, DAT_RESOURCE_MEMORY},
    {StatusDetail::kResourceDevice, DAT_RESOURCE_DEVICE},
    {StatusDetail::kResourceTep, DAT_RESOURCE_TEP},
    {StatusDetail::kResourceTevd, DAT_RESOURCE_TEVD},
    {StatusDetail::kResourceProtectionDomain, DAT_RESOURCE_PROTECTION_DOMAIN},
    {StatusDetail::kResourceMemoryRegion, DAT_RESOURCE_MEMORY_REGION},
    {StatusDetail::kResourceErrorHandler, DAT_RESOURCE_ERROR_HANDLER},
    {StatusDetail::kResourceCredits, DAT_RESOURCE_CREDITS},
    {StatusDetail::kResourceSrq, DAT_RESOURCE_SRQ},
    {StatusDetail::kInvalidHandleIa, DAT_INVALID_HANDLE_IA},
    {StatusDetail::kInvalidHandleEp, DAT_INVALID_HANDLE_EP},
    {StatusDetail::kInvalidHandleLmr, DAT_INVALID_HANDLE_LMR},
    {StatusDetail::kInvalidHandleRmr, DAT_INVALID_HANDLE_RMR},
    {StatusDetail::kInvalidHandlePz, DAT_INVALID_HANDLE_PZ},
    {StatusDetail::kInvalidHandlePsp, DAT_INVALID_HANDLE_PSP},
    {StatusDetail::kInvalidHandleRsp, DAT_INVALID_HANDLE_RSP},
    {StatusDetail::kInvalidHandleCr, DAT_INVALID_HANDLE_CR},
    {StatusDetail::kInvalidHandleCno, DAT_INVALID_HANDLE_CNO},
    {StatusDetail::kInvalidHandleEvdCr, DAT_INVALID_HANDLE_EVD_CR},
    {StatusDetail::kInvalidHandleEvdRequest, DAT_INVALID_HANDLE_EVD_REQUEST},
    {StatusDetail::kInvalidHandleEvdRecv, DAT_INVALID_HANDLE_EVD_RECV},
    {StatusDetail::kInvalidHandleEvdConn, DAT_INVALID_HANDLE_EVD_CONN},
    {StatusDetail::kInvalidHandleEvdAsync, DAT_INVALID_HANDLE_EVD_ASYNC},
    {StatusDetail::kInvalidHandleSrq, DAT_INVALID_HANDLE_SRQ},
#if SOFTDAT_ABI == 20
    {StatusDetail::kInvalidHandleCsp, DAT_INVALID_HANDLE_CSP},
#endif
    {StatusDetail::kInvalidHandle1, DAT_INVALID_HANDLE1},
    {StatusDetail::kInvalidHandle2, DAT_INVALID_HANDLE2},
    {StatusDetail::kInvalidHandle3, DAT_INVALID_HANDLE3},
    {StatusDetail::kInvalidHandle4, DAT_INVALID_HANDLE4},
    {StatusDetail::kInvalidHandle5, DAT_INVALID_HANDLE5},
    {StatusDetail::kInvalidHandle6, DAT_INVALID_HANDLE6},
    {StatusDetail::kInvalidHandle7, DAT_INVALID_HANDLE7},
    {StatusDetail::kInvalidHandle8, DAT_INVALID_HANDLE8},
    {StatusDetail::kInvalidHandle9, DAT_INVALID_HANDLE9},
    {StatusDetail::kInvalidHandle10, DAT_INVALID_HANDLE10},
    {StatusDetail::kInvalidArg1, DAT_INVALID_ARG1},
    {StatusDetail::kInvalidArg2, DAT_INVALID_ARG2},
    {StatusDetail::kInvalidArg3, DAT_INVALID_ARG3},
    {StatusDetail::kInvalidArg4, DAT_INVALID_ARG4},
    {StatusDetail::kInvalidArg5, DAT_INVALID_ARG5},
    {StatusDetail::kInvalidArg6, DAT_INVALID_ARG6},
    {StatusDetail::kInvalidArg7, DAT_INVALID_ARG7},
    {StatusDetail::kInvalidArg8, DAT_INVALID_ARG8},
    {StatusDetail::kInvalidArg9, DAT_INVALID_ARG9},
    {StatusDetail::kInvalidArg10, DAT_INVALID_ARG10},
    {StatusDetail::kInvalidStateEpUnconnected, DAT_INVALID_STATE_EP_UNCONNECTED},
    {StatusDetail::kInvalidStateEpActconnpending, DAT_INVALID_STATE_EP_ACTCONNPENDING},
    {StatusDetail::kInvalidStateEpPassconnpending, DAT_INVALID_STATE_EP_PASSCONNPENDING},
    {StatusDetail::kInvalidStateEpTentconnpending, DAT_INVALID_STATE_EP_TENTCONNPENDING},
    {StatusDetail::kInvalidStateEpConnected, DAT_INVALID_STATE_EP_CONNECTED},
    {StatusDetail::kInvalidStateEpDisconnected, DAT_INVALID_STATE_EP_DISCONNECTED},
    {StatusDetail::kInvalidStateEpReserved, DAT_INVALID_STATE_EP_RESERVED},
    {StatusDetail::kInvalidStateEpComplpending, DAT_INVALID_STATE_EP_COMPLPENDING},
    {StatusDetail::kInvalidStateEpDiscpending, DAT_INVALID_STATE_EP_DISCPENDING},
    {StatusDetail::kInvalidStateEpProvidercontrol, DAT_INVALID_STATE_EP_PROVIDERCONTROL},
    {StatusDetail::kInvalidStateEpNotready, DAT_INVALID_STATE_EP_NOTREADY},
    {StatusDetail::kInvalidStateEpRecvWatermark, DAT_INVALID_STATE_EP_RECV_WATERMARK},
    {StatusDetail::kInvalidStateEpPz, DAT_INVALID_STATE_EP_PZ},
    {StatusDetail::kInvalidStateEpEvdRequest, DAT_INVALID_STATE_EP_EVD_REQUEST},
    {StatusDetail::kInvalidStateEpEvdRecv, DAT_INVALID_STATE_EP_EVD_RECV},
    {StatusDetail::kInvalidStateEpEvdConnect, DAT_INVALID_STATE_EP_EVD_CONNECT},
    {StatusDetail::kInvalidStateEpUnconfigured, DAT_INVALID_STATE_EP_UNCONFIGURED},
    {StatusDetail::kInvalidStateEpUnconfreserved, DAT_INVALID_STATE_EP_UNCONFRESERVED},
    {StatusDetail::kInvalidStateEpUnconfpassive, DAT_INVALID_STATE_EP_UNCONFPASSIVE},
    {StatusDetail::kInvalidStateEpUnconftentative, DAT_INVALID_STATE_EP_UNCONFTENTATIVE},
    {StatusDetail::kInvalidStateCnoInUse, DAT_INVALID_STATE_CNO_IN_USE},
    {StatusDetail::kInvalidStateCnoDead, DAT_INVALID_STATE_CNO_DEAD},
    {StatusDetail::kInvalidStateEvdOpen, DAT_INVALID_STATE_EVD_OPEN},
    {StatusDetail::kInvalidStateEvdEnabled, DAT_INVALID_STATE_EVD_ENABLED},
    {StatusDetail::kInvalidStateEvdDisabled, DAT_INVALID_STATE_EVD_DISABLED},
    {StatusDetail::kInvalidStateEvdWaitable, DAT_INVALID_STATE_EVD_WAITABLE},
    {StatusDetail::kInvalidStateEvdUnwaitable, DAT_INVALID_STATE_EVD_UNWAITABLE},
    {StatusDetail::kInvalidStateEvdInUse, DAT_INVALID_STATE_EVD_IN_USE},
    {StatusDetail::kInvalidStateEvdConfigNotify, DAT_INVALID_STATE_EVD_CONFIG_NOTIFY},
    {StatusDetail::kInvalidStateEvdConfigSolicited, DAT_INVALID_STATE_EVD_CONFIG_SOLICITED},
    {StatusDetail::kInvalidStateEvdConfigThreshold, DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD},
    {StatusDetail::kInvalidStateEvdWaiter, DAT_INVALID_STATE_EVD_WAITER},
    {StatusDetail::kInvalidStateEvdAsync, DAT_INVALID_STATE_EVD_ASYNC},
    {StatusDetail::kInvalidStateIaInUse, DAT_INVALID_STATE_IA_IN_USE},
    {StatusDetail::kInvalidStateLmrInUse, DAT_INVALID_STATE_LMR_IN_USE},
    {StatusDetail::kInvalidStateLmrFree, DAT_INVALID_STATE_LMR_FREE},
    {StatusDetail::kInvalidStatePzInUse, DAT_INVALID_STATE_PZ_IN_USE},
    {StatusDetail::kInvalidStatePzFree, DAT_INVALID_STATE_PZ_FREE},
    {StatusDetail::kInvalidStateSrqOperational, DAT_INVALID_STATE_SRQ_OPERATIONAL},
    {StatusDetail::kInvalidStateSrqError, DAT_INVALID_STATE_SRQ_ERROR},
    {StatusDetail::kInvalidStateSrqInUse, DAT_INVALID_STATE_SRQ_IN_USE},
#if SOFTDAT_ABI == 20
    {StatusDetail::kInvalidStateSrqShutdown, DAT_INVALID_STATE_SRQ_SHUTDOWN},
#endif
    {StatusDetail::kPrivilegesRead, DAT_PRIVILEGES_READ},
    {StatusDetail::kPrivilegesWrite, DAT_PRIVILEGES_WRITE},
    {StatusDetail::kPrivilegesRdmaRead, DAT_PRIVILEGES_RDMA_READ},
    {StatusDetail::kPrivilegesRdmaWrite, DAT_PRIVILEGES_RDMA_WRITE},
    {StatusDetail::kProtectionRead, DAT_PROTECTION_READ},
    {StatusDetail::kProtectionWrite, DAT_PROTECTION_WRITE},
    {StatusDetail::kProtectionRdmaRead, DAT_PROTECTION_RDMA_READ},
    {StatusDetail::kProtectionRdmaWrite, DAT_PROTECTION_RDMA_WRITE},
    {StatusDetail::kInvalidAddressUnsupported, DAT_INVALID_ADDRESS_UNSUPPORTED},
    {StatusDetail::kInvalidAddressUnreachable, DAT_INVALID_ADDRESS_UNREACHABLE},
    {StatusDetail::kInvalidAddressMalformed, DAT_INVALID_ADDRESS_MALFORMED},
    {StatusDetail::kNameNotRegistered, DAT_NAME_NOT_REGISTERED},
    {StatusDetail::kMajorNotFound, DAT_MAJOR_NOT_FOUND},
    {StatusDetail::kMinorNotFound, DAT_MINOR_NOT_FOUND},
    {StatusDetail::kThreadSafetyNotFound, DAT_THREAD_SAFETY_NOT_FOUND},
};

TEST(ReturnCode, SuccessIsZero) {
  EXPECT_EQ(return_code(object::kOk), static_cast<DAT_RETURN>(DAT_SUCCESS));
}

TEST(ReturnCode, EveryFailureHasTheErrorClassAndItsType) {
  for (const TypeRow& row : kTypes) {
    if (row.type == StatusType::kSuccess) continue;
    const DAT_RETURN code = return_code(Status{row.type});
    EXPECT_EQ(code & DAT_CLASS_ERROR, DAT_CLASS_ERROR) << std::hex << code;
    EXPECT_EQ(DAT_GET_TYPE(code), DAT_GET_TYPE(row.spelled)) << std::hex << code;
    EXPECT_EQ(DAT_GET_SUBTYPE(code), 0u) << std::hex << code;
  }
}

TEST(ReturnCode, EverySubtypeIsNumberedAsInTheHeaderOfThisApi) {
  for (const DetailRow& row : kDetails) {
    const DAT_RETURN code = return_code(Status{StatusType::kInvalidState, row.detail});
    EXPECT_EQ(DAT_GET_SUBTYPE(code), static_cast<DAT_RETURN>(row.spelled)) << std::hex << code;
    EXPECT_EQ(DAT_GET_TYPE(code), static_cast<DAT_RETURN>(DAT_INVALID_STATE)) << std::hex << code;
  }
}

TEST(ReturnCode, ABareAnswerIsTheEnumeratorItself) {
  for (const TypeRow& row : kTypes)
    EXPECT_EQ(return_code(Status{row.type, StatusDetail::kNoSubtype, true}), row.spelled);
}

TEST(ReturnCode, NamedConstructorsSpellWhatTheyAreCalled) {
  EXPECT_EQ(return_code(object::invalid_handle(StatusDetail::kInvalidHandleIa)), 0x8005000bu);
  EXPECT_EQ(return_code(object::not_implemented()), DAT_CLASS_ERROR | DAT_NOT_IMPLEMENTED);
  EXPECT_EQ(return_code(object::model_not_supported()), 0x80090000u);
}

}  // namespace
}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
