// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

using object::InterfaceAdapter;
using object::ProtectionZone;

DAT_RETURN pz_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE* pz_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (pz_handle == nullptr) return refuse_argument(2);
  return answer_of([&] { return ProtectionZone::create(*ia, *pz_handle); });
}

DAT_RETURN pz_query(DAT_PZ_HANDLE pz_handle, DAT_PZ_PARAM_MASK mask, DAT_PZ_PARAM* parameters) {
  const auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  if (has_unknown_bits(mask, DAT_PZ_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  // A PZ has no other parameter.
  *parameters = {.ia_handle = consumer_ia_handle(pz->query().ia)};
  return DAT_SUCCESS;
}

DAT_RETURN pz_free(DAT_PZ_HANDLE pz_handle) {
  auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  return return_code(ProtectionZone::free(std::move(pz)));
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
