// SPDX-License-Identifier: BSD-2-Clause
// Status: what a DAT call answers, before it is spelled for one ABI. Only these named constructors
// build one, and only api/return_code.h turns it into a DAT_RETURN of DAT 1.2 or 2.0.
#pragma once

#include <cstdint>

namespace softdat::object {

// DAT_RETURN_TYPE by the names of dat_error.h, numbered as its upper half word; kNotImplemented is
// spelled per ABI.
enum class StatusType : std::uint16_t {
  kSuccess = 0,
  kAbort = 1,
  kConnQualInUse = 2,
  kInsufficientResources = 3,
  kInternalError = 4,
  kInvalidHandle = 5,
  kInvalidParameter = 6,
  kInvalidState = 7,
  kLengthError = 8,
  kModelNotSupported = 9,
  kProviderNotFound = 10,
  kPrivilegesViolation = 11,
  kProtectionViolation = 12,
  kQueueEmpty = 13,
  kQueueFull = 14,
  kTimeoutExpired = 15,
  kProviderAlreadyRegistered = 16,
  kProviderInUse = 17,
  kInvalidAddress = 18,
  kInterruptedCall = 19,
  kConnQualUnavailable = 20,
  kReservedLmr = 21,
  kPortInUse = 22,
  kCommNotSupported = 23,
  kNotImplemented = 0x3fff,
};

// DAT_RETURN_SUBTYPE by the names of dat_error.h, numbered as in DAT 2.0 (1.2 lacks
// kInvalidHandleCsp and kInvalidStateSrqShutdown, so its later numbers are smaller).
enum class StatusDetail : std::uint8_t {
  kNoSubtype = 0,
  kSubInterrupted = 1,
  kResourceMemory = 2,
  kResourceDevice = 3,
  kResourceTep = 4,
  kResourceTevd = 5,
  kResourceProtectionDomain = 6,
  kResourceMemoryRegion = 7,
  kResourceErrorHandler = 8,
  kResourceCredits = 9,
  kResourceSrq = 10,
  kInvalidHandleIa = 11,
  kInvalidHandleEp = 12,
  kInvalidHandleLmr = 13,
  kInvalidHandleRmr = 14,
  kInvalidHandlePz = 15,
  kInvalidHandlePsp = 16,
  kInvalidHandleRsp = 17,
  kInvalidHandleCr = 18,
  kInvalidHandleCno = 19,
  kInvalidHandleEvdCr = 20,
  kInvalidHandleEvdRequest = 21,
  kInvalidHandleEvdRecv = 22,
  kInvalidHandleEvdConn = 23,
  kInvalidHandleEvdAsync = 24,
  kInvalidHandleSrq = 25,
  kInvalidHandleCsp = 26,
  kInvalidHandle1 = 27,
  kInvalidHandle2 = 28,
  kInvalidHandle3 = 29,
  kInvalidHandle4 = 30,
  kInvalidHandle5 = 31,
  kInvalidHandle6 = 32,
  kInvalidHandle7 = 33,
  kInvalidHandle8 = 34,
  kInvalidHandle9 = 35,
  kInvalidHandle10 = 36,
  kInvalidArg1 = 37,
  kInvalidArg2 = 38,
  kInvalidArg3 = 39,
  kInvalidArg4 = 40,
  kInvalidArg5 = 41,
  kInvalidArg6 = 42,
  kInvalidArg7 = 43,
  kInvalidArg8 = 44,
  kInvalidArg9 = 45,
  kInvalidArg10 = 46,
  kInvalidStateEpUnconnected = 47,
  kInvalidStateEpActconnpending = 48,
  kInvalidStateEpPassconnpending = 49,
  kInvalidStateEpTentconnpending = 50,
  kInvalidStateEpConnected = 51,
  kInvalidStateEpDisconnected = 52,
  kInvalidStateEpReserved = 53,
  kInvalidStateEpComplpending = 54,
  kInvalidStateEpDiscpending = 55,
  kInvalidStateEpProvidercontrol = 56,
  kInvalidStateEpNotready = 57,
  kInvalidStateEpRecvWatermark = 58,
  kInvalidStateEpPz = 59,
  kInvalidStateEpEvdRequest = 60,
  kInvalidStateEpEvdRecv = 61,
  kInvalidStateEpEvdConnect = 62,
  kInvalidStateEpUnconfigured = 63,
  kInvalidStateEpUnconfreserved = 64,
  kInvalidStateEpUnconfpassive = 65,
  kInvalidStateEpUnconftentative = 66,
  kInvalidStateCnoInUse = 67,
  kInvalidStateCnoDead = 68,
  kInvalidStateEvdOpen = 69,
  kInvalidStateEvdEnabled = 70,
  kInvalidStateEvdDisabled = 71,
  kInvalidStateEvdWaitable = 72,
  kInvalidStateEvdUnwaitable = 73,
  kInvalidStateEvdInUse = 74,
  kInvalidStateEvdConfigNotify = 75,
  kInvalidStateEvdConfigSolicited = 76,
  kInvalidStateEvdConfigThreshold = 77,
  kInvalidStateEvdWaiter = 78,
  kInvalidStateEvdAsync = 79,
  kInvalidStateIaInUse = 80,
  kInvalidStateLmrInUse = 81,
  kInvalidStateLmrFree = 82,
  kInvalidStatePzInUse = 83,
  kInvalidStatePzFree = 84,
  kInvalidStateSrqOperational = 85,
  kInvalidStateSrqError = 86,
  kInvalidStateSrqInUse = 87,
  kInvalidStateSrqShutdown = 88,
  kPrivilegesRead = 89,
  kPrivilegesWrite = 90,
  kPrivilegesRdmaRead = 91,
  kPrivilegesRdmaWrite = 92,
  kProtectionRead = 93,
  kProtectionWrite = 94,
  kProtectionRdmaRead = 95,
  kProtectionRdmaWrite = 96,
  kInvalidAddressUnsupported = 97,
  kInvalidAddressUnreachable = 98,
  kInvalidAddressMalformed = 99,
  kNameNotRegistered = 100,
  kMajorNotFound = 101,
  kMinorNotFound = 102,
  kThreadSafetyNotFound = 103,
};

// A value; nothing else carries an answer up.
struct [[nodiscard]] Status {
  StatusType type = StatusType::kSuccess;
  StatusDetail detail = StatusDetail::kNoSubtype;
  bool bare = false;  // spelled without the error class, as stock programs expect of some answers
                      // (docs/ERRORS.md)

  constexpr bool ok() const { return type == StatusType::kSuccess; }
  friend constexpr bool operator==(const Status&, const Status&) = default;
};

static_assert(sizeof(Status) == 4, "a register's worth, which is never put together from pieces in memory");

inline constexpr Status kOk{};

constexpr Status insufficient_resources(StatusDetail resource) {
  return {StatusType::kInsufficientResources, resource};
}
constexpr Status invalid_handle(StatusDetail handle) {
  return {StatusType::kInvalidHandle, handle};
}
constexpr Status invalid_parameter(StatusDetail argument) {
  return {StatusType::kInvalidParameter, argument};
}
constexpr Status invalid_state(StatusDetail state) {
  return {StatusType::kInvalidState, state};
}
constexpr Status invalid_address(StatusDetail how) {
  return {StatusType::kInvalidAddress, how};
}
constexpr Status provider_not_found(StatusDetail what) {
  return {StatusType::kProviderNotFound, what};
}
constexpr Status privileges_violation(StatusDetail right) {
  return {StatusType::kPrivilegesViolation, right};
}
constexpr Status protection_violation(StatusDetail right) {
  return {StatusType::kProtectionViolation, right};
}
constexpr Status length_error() {
  return {StatusType::kLengthError};
}
constexpr Status conn_qual_in_use() {
  return {StatusType::kConnQualInUse};
}
constexpr Status conn_qual_unavailable() {
  return {StatusType::kConnQualUnavailable};
}
constexpr Status port_in_use() {
  return {StatusType::kPortInUse};
}
constexpr Status comm_not_supported() {
  return {StatusType::kCommNotSupported};
}
constexpr Status aborted() {
  return {StatusType::kAbort};
}
constexpr Status timeout_expired() {
  return {StatusType::kTimeoutExpired};
}
constexpr Status interrupted_call() {
  return {StatusType::kInterruptedCall};
}
constexpr Status queue_full() {
  return {StatusType::kQueueFull};
}
constexpr Status queue_empty(bool is_bare) {
  return {StatusType::kQueueEmpty, StatusDetail::kNoSubtype, is_bare};
}
constexpr Status internal_error() {
  return {StatusType::kInternalError};
}
constexpr Status model_not_supported() {
  return {StatusType::kModelNotSupported};
}
constexpr Status not_implemented() {
  return {StatusType::kNotImplemented};
}

}  // namespace softdat::object
