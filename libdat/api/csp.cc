// SPDX-License-Identifier: BSD-2-Clause
// Common service points. DAT 1.2 has none.
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/numbers.h"
#include "libdat/object/common_service_point.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"

#if SOFTDAT_ABI == 20

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::CommonServicePoint;
using object::CommonServicePointParameters;
using object::Communicator;
using object::EventDispatcher;
using object::InterfaceAdapter;

static_assert(sizeof(Communicator) == sizeof(DAT_COMM));
static_assert(offsetof(Communicator, domain) == offsetof(DAT_COMM, domain));
static_assert(offsetof(Communicator, type) == offsetof(DAT_COMM, type));
static_assert(offsetof(Communicator, protocol) == offsetof(DAT_COMM, protocol));

}  // namespace

DAT_RETURN csp_create(DAT_IA_HANDLE ia_handle, DAT_COMM* communicator, DAT_IA_ADDRESS_PTR address,
                      DAT_EVD_HANDLE evd_handle, DAT_CSP_HANDLE* csp_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto evd = pin_handle<EventDispatcher>(evd_handle);
  if (!evd) return refuse_handle(StatusDetail::kInvalidHandleEvdCr);
  if (communicator == nullptr) return refuse_argument(2);
  if (address == nullptr) return refuse_argument(3);
  if (csp_handle == nullptr) return refuse_argument(5);
  const Communicator wish{communicator->domain, communicator->type, communicator->protocol};
  // An address whose family is not the communicator's is refused, and may have fewer bytes than it says: not read.
  object::SocketAddress where;
  where.inet.sin_family = address->sa_family;
  const bool is_wished = wish.domain == address->sa_family;
  if (is_wished && address->sa_family == AF_INET) where.inet = *reinterpret_cast<const sockaddr_in*>(address);
  if (is_wished && address->sa_family == AF_INET6) where.inet6 = *reinterpret_cast<const sockaddr_in6*>(address);
  return answer_of([&] { return CommonServicePoint::create(*ia, wish, where, *evd, *csp_handle); });
}

DAT_RETURN csp_query(DAT_CSP_HANDLE csp_handle, DAT_CSP_PARAM_MASK mask, DAT_CSP_PARAM* parameters) {
  const auto csp = pin_handle<CommonServicePoint>(csp_handle);
  if (!csp) return refuse_handle(StatusDetail::kInvalidHandleCsp);
  if (has_unknown_bits(mask, DAT_CSP_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  const CommonServicePointParameters known = csp->query();
  *parameters = {.ia_handle = consumer_ia_handle(known.ia),
                 .comm = reinterpret_cast<DAT_COMM*>(const_cast<Communicator*>(known.communicator)),
                 .address_ptr = api::dat_address(known.address),
                 .evd_handle = known.evd};
  return DAT_SUCCESS;
}

DAT_RETURN csp_free(DAT_CSP_HANDLE csp_handle) {
  auto csp = pin_handle<CommonServicePoint>(csp_handle);
  if (!csp) return refuse_handle(StatusDetail::kInvalidHandleCsp);
  return return_code(CommonServicePoint::free(std::move(csp)));
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
