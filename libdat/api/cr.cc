// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/numbers.h"
#include "libdat/api/private_data.h"
#include "libdat/object/connection_request.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

using object::ConnectionRequest;
using object::ConnectionRequestParameters;
using object::Endpoint;

DAT_RETURN cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK mask, DAT_CR_PARAM* parameters) {
  const auto cr = pin_handle<ConnectionRequest>(cr_handle);
  if (!cr) return refuse_handle(StatusDetail::kInvalidHandleCr);
  if (has_unknown_bits(mask, DAT_CR_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  const ConnectionRequestParameters known = cr->query();
  *parameters = {.remote_ia_address_ptr = api::dat_address(known.remote_address),
                 .remote_port_qual = known.remote_port_qual,
                 .private_data_size = api::dat_count(known.private_data.size()),
                 // The consumer may write into it: programs answer with what they were asked.
                 .private_data = const_cast<std::byte*>(known.private_data.data()),
                 .local_ep_handle = known.local_ep};
  return DAT_SUCCESS;
}

DAT_RETURN cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle, DAT_COUNT private_data_size,
                     const DAT_PVOID private_data) {
  auto cr = pin_handle<ConnectionRequest>(cr_handle);
  if (!cr) return refuse_handle(StatusDetail::kInvalidHandleCr);
  const auto ep = pin_handle<Endpoint>(ep_handle);
  // Null is right for a CR that has an EP of its own (RSP, or PSP with DAT_PSP_PROVIDER_FLAG).
  if (ep_handle != nullptr && !ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  const Status data = check_private_data(cr->ia(), private_data_size, private_data, 3);
  if (!data.ok()) return return_code(data);
  return answer_of([&] {
    return ConnectionRequest::accept(std::move(cr), ep.get(), private_data_of(private_data_size, private_data));
  });
}

#if SOFTDAT_ABI == 20
DAT_RETURN cr_reject(DAT_CR_HANDLE cr_handle, DAT_COUNT private_data_size, const DAT_PVOID private_data) {
#else
DAT_RETURN cr_reject(DAT_CR_HANDLE cr_handle) {
  constexpr DAT_COUNT private_data_size = 0;
  constexpr DAT_PVOID private_data = nullptr;
#endif
  auto cr = pin_handle<ConnectionRequest>(cr_handle);
  if (!cr) return refuse_handle(StatusDetail::kInvalidHandleCr);
  const Status data = check_private_data(cr->ia(), private_data_size, private_data, 2);
  if (!data.ok()) return return_code(data);
  return answer_of(
      [&] { return ConnectionRequest::reject(std::move(cr), private_data_of(private_data_size, private_data)); });
}

DAT_RETURN cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff) {
  auto cr = pin_handle<ConnectionRequest>(cr_handle);
  if (!cr) return refuse_handle(StatusDetail::kInvalidHandleCr);
  return answer_of([&] { return ConnectionRequest::hand_off(std::move(cr), handoff); });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
