// SPDX-License-Identifier: BSD-2-Clause
// The border between the port's words and DAT's: each function here is total.
#pragma once

#include "hca/connection.h"
#include "hca/result.h"
#include "hca/types.h"
#include "libdat/object/event.h"
#include "libdat/object/status.h"

namespace softdat::object {

// Creating something: `resource` is what ran out, `argument` what the device can never take.
Status creation_failure(hca::Error error, StatusDetail resource, StatusDetail argument);

// Opening the device of an IA.
Status opening_failure(hca::Error error);

// A refused post. `is_write`: the device would have written into the local segments.
Status post_failure(hca::Error error, bool is_write);

// Inline, because every completion passes through them.
constexpr DtoStatus dto_status(hca::CompletionStatus status) {
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

constexpr DtoOperation dto_operation(hca::CompletionOpcode opcode) {
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

// A refused bind; `privileges` are those asked for, `argument` is the triplet.
Status bind_failure(hca::Error error, std::uint32_t privileges, StatusDetail argument);

// A completion as DAT's event; its context is the EP's handle, or the RMR's.
inline void write_completion(const hca::Completion& from, Event& to) {
  const auto object = reinterpret_cast<Handle>(from.qp_context);
  if (from.opcode == hca::CompletionOpcode::kBind) [[unlikely]] {
    to.body = RmrBindCompletion{object, from.wr_id, dto_status(from.status)};
  } else {
    to.body =
        DtoCompletion{object,           from.wr_id,    from.length, dto_status(from.status), dto_operation(from.opcode),
                      from.invalidated, from.immediate};
  }
}

ConnectionResult connection_result(hca::ConnectionEventType type);

}  // namespace softdat::object
