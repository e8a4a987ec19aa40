// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/traced_call.h"

#include <algorithm>

#include "libdat/object/hca_status.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

struct Name {
  unsigned number;
  const char* text;
};

#define SOFTDAT_NAME(constant)                 \
  Name {                                       \
    static_cast<unsigned>(constant), #constant \
  }

constexpr Name kEvents[] = {
    SOFTDAT_NAME(DAT_DTO_COMPLETION_EVENT),
    SOFTDAT_NAME(DAT_RMR_BIND_COMPLETION_EVENT),
    SOFTDAT_NAME(DAT_CONNECTION_REQUEST_EVENT),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_ESTABLISHED),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_PEER_REJECTED),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_NON_PEER_REJECTED),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_DISCONNECTED),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_BROKEN),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_TIMED_OUT),
    SOFTDAT_NAME(DAT_CONNECTION_EVENT_UNREACHABLE),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_EVD_OVERFLOW),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_IA_CATASTROPHIC),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_EP_BROKEN),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_TIMED_OUT),
    SOFTDAT_NAME(DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR),
    SOFTDAT_NAME(DAT_SOFTWARE_EVENT),
#if SOFTDAT_ABI == 20
    SOFTDAT_NAME(DAT_IB_DTO_EVENT),
    SOFTDAT_NAME(DAT_IB_UD_CONNECTION_REQUEST_EVENT),
    SOFTDAT_NAME(DAT_IB_UD_CONNECTION_EVENT_ESTABLISHED),
    SOFTDAT_NAME(DAT_IB_UD_CONNECTION_REJECT_EVENT),
    SOFTDAT_NAME(DAT_IB_UD_CONNECTION_ERROR_EVENT),
#endif
};

#undef SOFTDAT_NAME

std::string event_name(unsigned number) {
  const auto* const found = std::ranges::find(kEvents, number, &Name::number);
  return found == std::end(kEvents) ? api::hex_text(number) : found->text;
}

std::string of_object(const char* kind, const void* handle) {
  return std::string(" of ") + kind + ' ' + api::pointer_text(handle);
}

std::string cookie_text(const DAT_CONTEXT& cookie) {
  return ", cookie " + api::hex_text(cookie.as_64);
}

bool is_connection_event(DAT_EVENT_NUMBER number) {
  return number >= DAT_CONNECTION_EVENT_ESTABLISHED && number <= DAT_CONNECTION_EVENT_UNREACHABLE;
}

std::string facts_text(const DAT_EVENT& event) {
  if (event.event_number == DAT_DTO_COMPLETION_EVENT) {
    const auto& data = event.event_data.dto_completion_event_data;
    return of_object("ep", data.ep_handle) + cookie_text(data.user_cookie) + ", " +
           std::to_string(data.transfered_length) + " bytes, " +
           object::name_of(static_cast<object::DtoStatus>(data.status));
  }
  if (event.event_number == DAT_RMR_BIND_COMPLETION_EVENT) {
    const auto& data = event.event_data.rmr_completion_event_data;
    return of_object("rmr", data.rmr_handle) + cookie_text(data.user_cookie) + ", " +
           object::name_of(static_cast<object::DtoStatus>(data.status));
  }
  if (event.event_number == DAT_CONNECTION_REQUEST_EVENT) {
    const auto& data = event.event_data.cr_arrival_event_data;
    return " for conn_qual " + std::to_string(data.conn_qual) + ", cr " + api::pointer_text(data.cr_handle);
  }
  if (is_connection_event(event.event_number)) {
    const auto& data = event.event_data.connect_event_data;
    return of_object("ep", data.ep_handle) + ", " + std::to_string(data.private_data_size) + " bytes of private data";
  }
  return "";
}

}  // namespace

std::string event_text(const DAT_EVENT& event) {
  return '{' + event_name(static_cast<unsigned>(event.event_number)) + facts_text(event) + '}';
}

// A list that is too long for a line is cut.
std::string segments_text(const DAT_LMR_TRIPLET* segments, DAT_COUNT count) {
  constexpr DAT_COUNT kMost = 4;
  if (segments == nullptr || count <= 0) return "{}";
  std::string text;
  for (DAT_COUNT i = 0; i < std::min(count, kMost); ++i) {
    const DAT_LMR_TRIPLET& segment = segments[i];
    text += (i == 0 ? "{" : ", ") + std::to_string(segment.segment_length) + " bytes at " +
            api::hex_text(segment.virtual_address) + " of lmr_context " + api::hex_text(segment.lmr_context);
  }
  return text + (count > kMost ? ", ...}" : "}");
}

std::string range_text(const DAT_RMR_TRIPLET& range) {
#if SOFTDAT_ABI == 20
  const std::uint64_t address = range.virtual_address;
#else
  const std::uint64_t address = range.target_address;
#endif
  return '{' + std::to_string(range.segment_length) + " bytes at " + api::hex_text(address) + " of rmr_context " +
         api::hex_text(range.rmr_context) + '}';
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
