// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/ep_conversion.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/protection_zone.h"

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

// False for a handle that is neither null nor a live object of that kind.
template <typename T>
bool read_handle(DAT_EP_PARAM_MASK mask, DAT_EP_PARAM_MASK field, DAT_HANDLE handle, Pin<T>& pin,
                 std::optional<T*>& change) {
  if ((mask & field) == 0) return true;
  pin = pin_handle<T>(handle);
  change = pin.get();
  return handle == nullptr || pin;
}

bool read_parts(const DAT_EP_PARAM& from, DAT_EP_PARAM_MASK mask, NewParts& parts, EndpointChange& change) {
  return read_handle(mask, DAT_EP_FIELD_PZ_HANDLE, from.pz_handle, parts.pz, change.pz) &&
         read_handle(mask, DAT_EP_FIELD_RECV_EVD_HANDLE, from.recv_evd_handle, parts.recv_evd, change.recv_evd) &&
         read_handle(mask, DAT_EP_FIELD_REQUEST_EVD_HANDLE, from.request_evd_handle, parts.request_evd,
                     change.request_evd) &&
         read_handle(mask, DAT_EP_FIELD_CONNECT_EVD_HANDLE, from.connect_evd_handle, parts.connect_evd,
                     change.connect_evd);
}

}  // namespace

DAT_RETURN ep_modify(DAT_EP_HANDLE ep_handle, DAT_EP_PARAM_MASK mask, const DAT_EP_PARAM* parameters) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (has_unknown_mask_bits(mask, kModifiable)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  NewParts parts;
  EndpointChange change;
  if (!read_parts(*parameters, mask, parts, change)) return refuse_argument(3);
  if (has_named_attributes(parameters->ep_attr, mask)) return refuse_argument(3);
  return answer_of([&] {
    if ((mask & DAT_EP_FIELD_EP_ATTR_ALL) != 0) {
      change.attributes = [parameters, mask](EndpointAttributes& attributes) {
        read_attributes(parameters->ep_attr, mask, attributes);
      };
    }
    return ep->modify(change);
  });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
