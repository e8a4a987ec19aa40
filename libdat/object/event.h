// SPDX-License-Identifier: BSD-2-Clause
// Events of EVDs, in DAT's terms but independent of the ABI. Plain values. Each pointer says who owns its memory and
// for how long it is valid.
#pragma once

#include <cstdint>
#include <type_traits>
#include <variant>

#include "libdat/object/object.h"
#include "libdat/object/socket_address.h"

namespace softdat::object {

// Numbered as DAT_DTOS of DAT 2.0 (1.2 does not report the operation) and, from 8 on, as DAT_IB_DTOS:
// those are extension events.
enum class DtoOperation : std::uint8_t {
  kSend = 0,
  kRdmaWrite = 1,
  kRdmaRead = 2,
  kReceive = 3,
  kReceiveWithInvalidate = 4,
  kRdmaWriteImmediate = 8,
  kReceiveRdmaImmediate = 9,
  kFetchAdd = 10,
  kCompareSwap = 11,
  kReceiveImmediate = 12,
  kSendDatagram = 13,
  kReceiveDatagram = 14,
};

// Numbered as DAT_DTO_COMPLETION_STATUS of both ABIs.
enum class DtoStatus : std::uint8_t {
  kSuccess = 0,
  kFlushed = 1,
  kLocalLength = 2,
  kLocalEp = 3,
  kLocalProtection = 4,
  kBadResponse = 5,
  kRemoteAccess = 6,
  kRemoteResponder = 7,
  kTransport = 8,
  kReceiverNotReady = 9,
  kRmrOperationFailed = 11,
};

struct DtoCompletion {
  Handle ep;             // may have been freed since
  std::uint64_t cookie;  // the consumer's, verbatim
  std::uint32_t length;  // bytes transferred; 0 after a failure
  DtoStatus status;
  DtoOperation operation;
  std::uint32_t invalidated = 0;  // kReceiveWithInvalidate: the RMR context
  std::uint32_t immediate = 0;    // kReceiveRdmaImmediate, kReceiveImmediate
};

// DAT_CONNECTION_REQUEST_EVENT.
struct RequestArrival {
  Handle service_point;                // the PSP or RSP; may have been freed since
  const SocketAddress* local_address;  // the IA's, valid until it is closed
  std::uint64_t conn_qual;
  Handle request;            // the CR
  bool is_datagram = false;  // an exchange of address handles; then an extension event
};

// Numbered as the low byte of DAT_CONNECTION_EVENT_xxx of both ABIs (0x4000 + number).
enum class ConnectionResult : std::uint8_t {
  kEstablished = 1,
  kPeerRejected = 2,
  kNonPeerRejected = 3,
  kAcceptCompletionError = 4,
  kDisconnected = 5,
  kBroken = 6,
  kTimedOut = 7,
  kUnreachable = 8,
};

struct ConnectionNotice {
  Handle ep;
  const void* private_data;  // owned by the EP, valid until it is freed or reset; null without any
  std::uint32_t private_data_size;
  ConnectionResult result;
};

// The end of an exchange of address handles; an extension event.
struct DatagramNotice {
  Handle ep;
  const void* private_data;  // as ConnectionNotice
  std::uint32_t private_data_size;
  ConnectionResult result;
  bool is_passive;          // the peer had connected
  Handle address_handle;    // kEstablished only; the consumer owns and frees it
  std::uint32_t qp_number;  // the peer's
  SocketAddress peer;
  std::uint64_t exchange;  // names the exchange when the consumer ends it; never 0
};

// Numbered as the low byte of DAT_ASYNC_ERROR_xxx of both ABIs (0x8000 + number).
enum class AsyncErrorType : std::uint8_t {
  kEvdOverflow = 1,
  kIaCatastrophic = 2,
  kEpBroken = 3,
  kTimedOut = 4,
  kProviderInternalError = 5,
};

struct AsyncError {
  Handle object;  // the object that has the error
  std::int32_t reason;
  AsyncErrorType type;
};

struct SoftwareEvent {
  void* pointer;  // opaque, the consumer's
};

struct RmrBindCompletion {
  Handle rmr;  // may have been freed since
  std::uint64_t cookie;
  DtoStatus status;
};

struct Event {
  Handle evd = nullptr;  // the EVD that it came through
  std::variant<DtoCompletion, RequestArrival, ConnectionNotice, DatagramNotice, AsyncError, SoftwareEvent,
               RmrBindCompletion>
      body;
};
static_assert(std::is_trivially_copyable_v<Event>);

}  // namespace softdat::object
