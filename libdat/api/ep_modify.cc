// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/ep_conversion.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/refusal.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Endpoint;
using object::EndpointAttributes;
using object::EndpointChange;
using object::EventDispatcher;
using object::Pin;
using object::ProtectionZone;

constexpr DAT_EP_PARAM_MASK kObjects = DAT_EP_FIELD_PZ_HANDLE | DAT_EP_FIELD_RECV_EVD_HANDLE |
                                       DAT_EP_FIELD_REQUEST_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE;

// The pages name these as never modifiable: the rest of the mask.
constexpr DAT_EP_PARAM_MASK kModifiable = kObjects | DAT_EP_FIELD_EP_ATTR_ALL;

// What an EndpointChange points at, held for the call.
struct NewParts {
  Pin<ProtectionZone> pz;
  Pin<EventDispatcher> recv_evd;
  Pin<EventDispatcher> request_evd;
  Pin<EventDispatcher> connect_evd;
};

struct Field {
  DAT_EP_PARAM_MASK bit;
  const char* name;
};

// Fields that dat_ep_query(3) returns and dat_ep_modify(3) never changes.
constexpr Field kFixed[] = {{DAT_EP_FIELD_IA_HANDLE, "ia_handle"},
                            {DAT_EP_FIELD_EP_STATE, "ep_state"},
#if SOFTDAT_ABI == 20
                            {DAT_EP_FIELD_COMM, "comm"},
#endif
                            {DAT_EP_FIELD_SRQ_HANDLE, "srq_handle"},
                            {DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR, "local_ia_address_ptr"},
                            {DAT_EP_FIELD_LOCAL_PORT_QUAL, "local_port_qual"},
                            {DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR, "remote_ia_address_ptr"},
                            {DAT_EP_FIELD_REMOTE_PORT_QUAL, "remote_port_qual"}};

DAT_RETURN refuse_mask(DAT_EP_PARAM_MASK mask) {
  return answer_of([&] {
    return object::because(object::invalid_parameter(StatusDetail::kInvalidArg2), [&] {
      std::string text;
      for (const Field& field : kFixed) {
        if ((mask & field.bit) != 0) text += (text.empty() ? "" : ", ") + std::string(field.name);
      }
      if (text.empty()) return std::string("ep_param_mask has a bit that is no DAT_EP_FIELD_xxx");
      return "ep_param_mask names " + text +
             ", which no call can change; pz_handle, the three EVD handles and the attributes can be modified";
    });
  });
}

template <typename Reason>
DAT_RETURN refuse_parameters(Reason reason) {
  return answer_of([&] { return object::because(object::invalid_parameter(StatusDetail::kInvalidArg3), reason); });
}

// The field of a handle that is neither null nor a live object of that kind, and the handle.
struct WildHandle {
  const char* field = nullptr;
  DAT_HANDLE handle = nullptr;
};

template <typename T>
void read_handle(DAT_EP_PARAM_MASK mask, const Field& field, DAT_HANDLE handle, Pin<T>& pin, std::optional<T*>& change,
                 WildHandle& wild) {
  if ((mask & field.bit) == 0) return;
  pin = pin_handle<T>(handle);
  change = pin.get();
  if (handle != nullptr && !pin && wild.field == nullptr) wild = {field.name, handle};
}

WildHandle read_parts(const DAT_EP_PARAM& from, DAT_EP_PARAM_MASK mask, NewParts& parts, EndpointChange& change) {
  WildHandle wild;
  read_handle(mask, {DAT_EP_FIELD_PZ_HANDLE, "pz_handle"}, from.pz_handle, parts.pz, change.pz, wild);
  read_handle(mask, {DAT_EP_FIELD_RECV_EVD_HANDLE, "recv_evd_handle"}, from.recv_evd_handle, parts.recv_evd,
              change.recv_evd, wild);
  read_handle(mask, {DAT_EP_FIELD_REQUEST_EVD_HANDLE, "request_evd_handle"}, from.request_evd_handle, parts.request_evd,
              change.request_evd, wild);
  read_handle(mask, {DAT_EP_FIELD_CONNECT_EVD_HANDLE, "connect_evd_handle"}, from.connect_evd_handle, parts.connect_evd,
              change.connect_evd, wild);
  return wild;
}

}  // namespace

DAT_RETURN ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM* parameters) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (has_unknown_mask_bits(mask, kModifiable)) return refuse_mask(mask);
  if (parameters == nullptr) return refuse_argument(3);
  NewParts parts;
  EndpointChange change;
  if (const WildHandle wild = read_parts(*parameters, mask, parts, change); wild.field != nullptr) {
    return refuse_parameters(
        [&] { return std::string(wild.field) + " of ep_param is " + object::handle_text(wild.handle, &ep->ia()); });
  }
  if (has_named_attributes(parameters->ep_attr, mask)) {
    return refuse_parameters([] {
      return std::string(
          "ep_transport_specific_count or ep_provider_specific_count of the attributes is not 0, and "
          "the adapter knows no named attributes");
    });
  }
  return answer_of([&] {
    if ((mask & DAT_EP_FIELD_EP_ATTR_ALL) != 0) {
      // Reads only what the mask names; the program may have left the other fields undefined.
      change.attributes = [parameters, mask](EndpointAttributes& attributes) {
        read_attributes(parameters->ep_attr, mask, attributes);
        // 0 leaves the choice to the provider here, but is a watermark once dat_ep_set_watermark() has set it.
        const bool is_watermark_named = (mask & DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW) != 0;
        if (is_watermark_named && attributes.srq_soft_hw == 0) attributes.srq_soft_hw = object::kNoWatermark;
      };
    }
    return ep->settings().modify(change);
  });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
