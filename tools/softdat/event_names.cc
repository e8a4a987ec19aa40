// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/event_names.h"

#include <dat2/dat_ib_extensions.h>
#include <fmt/format.h>

#include <array>

namespace softdat::tools {
namespace {

struct Name {
  unsigned number;
  const char* text;
};

#define SOFTDAT_NAME(constant, meaning)                         \
  Name {                                                        \
    static_cast<unsigned>(constant), #constant " (" meaning ")" \
  }

constexpr std::array kEventNames{
    SOFTDAT_NAME(DAT_DTO_COMPLETION_EVENT, "an operation has completed"),
    SOFTDAT_NAME(DAT_RMR_BIND_COMPLETION_EVENT, "a bind has completed"),
    SOFTDAT_NAME(DAT_CONNECTION_REQUEST_EVENT, "a peer wants to connect"),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_ESTABLISHED, "the endpoint is connected"),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_PEER_REJECTED, "the peer rejected the request"),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_NON_PEER_REJECTED, "nobody listens there, or the peer lacks resources"),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR, "the peer left before it was accepted"),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_DISCONNECTED, "one side disconnected"),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_BROKEN, "an error broke the connection, or the peer died"),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_TIMED_OUT, "no answer within the timeout"),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_UNREACHABLE, "no way to the address"),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_EVD_OVERFLOW, "an event queue is full and lost events"),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_IA_CATASTROPHIC, "the adapter failed"),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_EP_BROKEN, "an endpoint failed"),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_TIMED_OUT, "an operation timed out"),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, "the provider failed"),
    SOFTDAT_NAME(DAT_SOFTWARE_EVENT, "the program posted it"),
    SOFTDAT_NAME(DAT_IB_DTO_EVENT, "an extended operation has completed"),
    SOFTDAT_NAME(DAT_IB_UD_CONNECTION_REQUEST_EVENT, "a peer asks for an address handle"),
    SOFTDAT_NAME(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED, "an address handle is there"),
    SOFTDAT_NAME(DAT_IB_UD_CONNECTION_REJECT_EVENT, "the peer refused an address handle"),
    SOFTDAT_NAME(DAT_IB_UD_CONNECTION_ERROR_EVENT, "no address handle could be had"),
};

constexpr std::array kStatuses{
    SOFTDAT_NAME(DAT_DTO_SUCCESS, "success"),
    SOFTDAT_NAME(DAT_DTO_ERR_FLUSHED, "the connection ended first"),
    SOFTDAT_NAME(DAT_DTO_ERR_LOCAL_LENGTH, "a message is longer than the receive, or a segment too long"),
    SOFTDAT_NAME(DAT_DTO_ERR_LOCAL_EP, "the local endpoint is inconsistent"),
    SOFTDAT_NAME(DAT_DTO_ERR_LOCAL_PROTECTION, "a local segment is not registered with these bounds and rights"),
    SOFTDAT_NAME(DAT_DTO_ERR_BAD_RESPONSE, "the peer's answer makes no sense"),
    SOFTDAT_NAME(DAT_DTO_ERR_REMOTE_ACCESS, "the peer's key, bounds or rights forbid it"),
    SOFTDAT_NAME(DAT_DTO_ERR_REMOTE_RESPONDER, "the peer could not do it"),
    SOFTDAT_NAME(DAT_DTO_ERR_TRANSPORT, "the network gave up"),
    SOFTDAT_NAME(DAT_DTO_ERR_RECEIVER_NOT_READY, "the peer has posted no receive"),
    SOFTDAT_NAME(DAT_DTO_ERR_PARTIAL_PACKET, "a packet was cut"),
    SOFTDAT_NAME(DAT_RMR_OPERATION_FAILED, "a memory window operation failed"),
    SOFTDAT_NAME(DAT_DTO_ERR_LOCAL_MM_ERROR, "memory management failed"),
};

#undef SOFTDAT_NAME

template <typename Names>
std::string text_of(const Names& names, unsigned number, const char* what, const char* format) {
  for (const Name& name : names) {
    if (name.number == number) return name.text;
  }
  return fmt::format("unknown {} {}", what, fmt::format(fmt::runtime(format), number));
}

}  // namespace

std::string event_text(DAT_EVENT_NUMBER number) {
  return text_of(kEventNames, static_cast<unsigned>(number), "event", "{:#x}");
}

std::string completion_status_text(DAT_DTO_COMPLETION_STATUS status) {
  return text_of(kStatuses, static_cast<unsigned>(status), "status", "{}");
}

}  // namespace softdat::tools
