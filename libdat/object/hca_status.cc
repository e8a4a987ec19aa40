// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/hca_status.h"

#include <string>

#include "libdat/object/memory_region.h"
#include "libdat/object/refusal.h"

namespace softdat::object {

// `resource` and `argument` are the subtypes of the calling function in docs/ERRORS.md.
Status creation_failure(hca::Error error, StatusDetail resource, StatusDetail argument) {
  using enum hca::Error;
  switch (error) {
    case kNoMemory:
      return insufficient_resources(StatusDetail::kResourceMemory);
    case kLimitReached:
    case kNoDevice:
      return insufficient_resources(resource);
    case kInvalidArgument:
      return invalid_parameter(argument);
    case kInvalidState:
      return invalid_state(StatusDetail::kNoSubtype);
    case kUnsupported:
      return model_not_supported();
    case kAddressInUse:
      return because(conn_qual_in_use(), [] {
        return std::string("another service point listens there: of this program, or of another one that still runs");
      });
    case kBadAddress:
      return invalid_address(StatusDetail::kInvalidAddressUnreachable);
    // Errors of keys and ranges come from posts and binds, whose tables stand below.
    case kPermission:
    case kBadKey:
    case kOutOfRange:
    case kWrongDomain:
    case kMissingRight:
      return privileges_violation(StatusDetail::kNoSubtype);
  }
  return internal_error();
}

// dat_ia_open(3DAT) answers PROVIDER_NOT_FOUND for an adapter that is not there.
Status opening_failure(hca::Error error) {
  using enum hca::Error;
  if (error == kNoDevice || error == kUnsupported) {
    return provider_not_found(StatusDetail::kNameNotRegistered);
  }
  return creation_failure(error, StatusDetail::kResourceDevice, StatusDetail::kInvalidArg1);
}

Status post_failure(hca::Error error, bool is_write) {
  using enum hca::Error;
  const Status privileges =
      privileges_violation(is_write ? StatusDetail::kPrivilegesWrite : StatusDetail::kPrivilegesRead);
  const Status protection =
      protection_violation(is_write ? StatusDetail::kProtectionWrite : StatusDetail::kProtectionRead);
  switch (error) {
    case kPermission:
    case kBadKey:
    case kMissingRight:
      return privileges;
    case kWrongDomain:
      return protection;
    // DAT has no code for a range that leaves its region: the list of segments is the wrong argument.
    case kOutOfRange:
      return invalid_parameter(StatusDetail::kInvalidArg3);
    case kNoMemory:
    case kLimitReached:
    case kInvalidArgument:
    case kInvalidState:
    case kUnsupported:
    case kAddressInUse:
    case kBadAddress:
    case kNoDevice:
      return creation_failure(error, StatusDetail::kResourceMemory, StatusDetail::kInvalidArg2);
  }
  return internal_error();
}

Status bind_failure(hca::Error error, std::uint32_t privileges, StatusDetail argument) {
  using enum hca::Error;
  const bool is_write = (privileges & (kRemoteWritePrivilege | kRemoteAtomicPrivilege)) != 0;
  switch (error) {
    case kPermission:
    case kMissingRight:
      return privileges_violation(is_write ? StatusDetail::kPrivilegesRdmaWrite : StatusDetail::kPrivilegesRdmaRead);
    case kWrongDomain:
      return protection_violation(is_write ? StatusDetail::kProtectionRdmaWrite : StatusDetail::kProtectionRdmaRead);
    case kBadKey:
    case kOutOfRange:
      return invalid_parameter(argument);
    case kLimitReached:
    case kNoMemory:
    case kInvalidArgument:
    case kInvalidState:
    case kUnsupported:
    case kAddressInUse:
    case kBadAddress:
    case kNoDevice:
      return creation_failure(error, StatusDetail::kResourceMemory, argument);
  }
  return internal_error();
}

DtoStatus dto_status(hca::CompletionStatus status) {
  using enum hca::CompletionStatus;
  switch (status) {
    case kSuccess:
      return DtoStatus::kSuccess;
    case kLocalLength:
      return DtoStatus::kLocalLength;
    case kLocalProtection:
      return DtoStatus::kLocalProtection;
    case kFlushed:
      return DtoStatus::kFlushed;
    case kRemoteAccess:
      return DtoStatus::kRemoteAccess;
    case kRemoteOperation:
      return DtoStatus::kRemoteResponder;
    case kRetryExceeded:
      return DtoStatus::kTransport;
    case kRnrRetryExceeded:
      return DtoStatus::kReceiverNotReady;
    case kBadResponse:
      return DtoStatus::kBadResponse;
    case kBindFailed:
      return DtoStatus::kRmrOperationFailed;
  }
  return DtoStatus::kLocalEp;
}

const char* name_of(DtoStatus status) {
  switch (status) {
    case DtoStatus::kSuccess:
      return "DAT_DTO_SUCCESS";
    case DtoStatus::kFlushed:
      return "DAT_DTO_ERR_FLUSHED";
    case DtoStatus::kLocalLength:
      return "DAT_DTO_ERR_LOCAL_LENGTH";
    case DtoStatus::kLocalEp:
      return "DAT_DTO_ERR_LOCAL_EP";
    case DtoStatus::kLocalProtection:
      return "DAT_DTO_ERR_LOCAL_PROTECTION";
    case DtoStatus::kBadResponse:
      return "DAT_DTO_ERR_BAD_RESPONSE";
    case DtoStatus::kRemoteAccess:
      return "DAT_DTO_ERR_REMOTE_ACCESS";
    case DtoStatus::kRemoteResponder:
      return "DAT_DTO_ERR_REMOTE_RESPONDER";
    case DtoStatus::kTransport:
      return "DAT_DTO_ERR_TRANSPORT";
    case DtoStatus::kReceiverNotReady:
      return "DAT_DTO_ERR_RECEIVER_NOT_READY";
    case DtoStatus::kRmrOperationFailed:
      return "DAT_RMR_OPERATION_FAILED";
  }
  return "an unknown status";
}

DtoOperation dto_operation(hca::CompletionOpcode opcode) {
  using enum hca::CompletionOpcode;
  switch (opcode) {
    case kSend:
      return DtoOperation::kSend;
    case kWrite:
      return DtoOperation::kRdmaWrite;
    case kRead:
      return DtoOperation::kRdmaRead;
    case kRecv:
    case kBind:  // which is no DTO
      return DtoOperation::kReceive;
    case kRecvInvalidate:
      return DtoOperation::kReceiveWithInvalidate;
    case kWriteWithImmediate:
      return DtoOperation::kRdmaWriteImmediate;
    case kFetchAdd:
      return DtoOperation::kFetchAdd;
    case kCompareSwap:
      return DtoOperation::kCompareSwap;
    case kRecvWriteImmediate:
      return DtoOperation::kReceiveRdmaImmediate;
    case kRecvImmediate:
      return DtoOperation::kReceiveImmediate;
    case kSendDatagram:
      return DtoOperation::kSendDatagram;
    case kRecvDatagram:
      return DtoOperation::kReceiveDatagram;
  }
  return DtoOperation::kSend;
}

ConnectionResult connection_result(hca::ConnectionEventType type) {
  using enum hca::ConnectionEventType;
  switch (type) {
    case kEstablished:
      return ConnectionResult::kEstablished;
    case kPeerRejected:
      return ConnectionResult::kPeerRejected;
    case kNonPeerRejected:
      return ConnectionResult::kNonPeerRejected;
    case kUnreachable:
      return ConnectionResult::kUnreachable;
    case kTimedOut:
      return ConnectionResult::kTimedOut;
    case kAcceptFailed:
      return ConnectionResult::kAcceptCompletionError;
    case kDisconnected:
      return ConnectionResult::kDisconnected;
    case kBroken:
      return ConnectionResult::kBroken;
  }
  return ConnectionResult::kBroken;
}

}  // namespace softdat::object
