// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/memory_region.h"
#include "libdat/object/memory_window.h"
#include "libdat/object/protection_zone.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Endpoint;
using object::MemoryRegion;
using object::MemoryWindow;
using object::MemoryWindowParameters;
using object::ProtectionZone;

constexpr std::uint32_t kBindFlags =
    DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG;

}  // namespace

DAT_RETURN rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  const auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  if (rmr_handle == nullptr) return refuse_argument(2);
  return answer_of([&] { return MemoryWindow::create(*pz, *rmr_handle); });
}

DAT_RETURN rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM* parameters) {
  const auto rmr = pin_handle<MemoryWindow>(rmr_handle);
  if (!rmr) return refuse_handle(StatusDetail::kInvalidHandleRmr);
  if (has_unknown_bits(mask, DAT_RMR_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  const MemoryWindowParameters known = rmr->query();
  DAT_RMR_PARAM unbound{};
  unbound.ia_handle = consumer_ia_handle(known.ia);
  unbound.pz_handle = known.pz;
#if SOFTDAT_ABI == 20
  unbound.rmr_scope = DAT_RMR_SCOPE_PZ;
#endif
  *parameters = unbound;
  return DAT_SUCCESS;
}

#if SOFTDAT_ABI == 20
DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle, const DAT_LMR_TRIPLET* triplet,
                    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE,
                    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  const auto rmr = pin_handle<MemoryWindow>(rmr_handle);
  if (!rmr) return refuse_handle(StatusDetail::kInvalidHandleRmr);
  const auto lmr = pin_handle<MemoryRegion>(lmr_handle);
  if (!lmr) return refuse_handle(StatusDetail::kInvalidHandleLmr);
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (triplet == nullptr) return refuse_argument(3);
  if (has_unknown_bits(privileges, object::kAllPrivileges)) return refuse_argument(4);
  if (number_of(va_type) > DAT_VA_TYPE_ZB) return refuse_argument(5);
  if (has_unknown_bits(flags, kBindFlags)) return refuse_argument(8);
  if (context == nullptr) return refuse_argument(9);
  return refuse_model();
}
#else
DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET* triplet, DAT_MEM_PRIV_FLAGS privileges,
                    DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE, DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  const auto rmr = pin_handle<MemoryWindow>(rmr_handle);
  if (!rmr) return refuse_handle(StatusDetail::kInvalidHandleRmr);
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (triplet == nullptr) return refuse_argument(2);
  if (has_unknown_bits(privileges, DAT_MEM_PRIV_ALL_FLAG)) return refuse_argument(3);
  if (has_unknown_bits(flags, kBindFlags)) return refuse_argument(6);
  if (context == nullptr) return refuse_argument(7);
  return refuse_model();
}
#endif

DAT_RETURN rmr_free(DAT_RMR_HANDLE rmr_handle) {
  auto rmr = pin_handle<MemoryWindow>(rmr_handle);
  if (!rmr) return refuse_handle(StatusDetail::kInvalidHandleRmr);
  return return_code(MemoryWindow::free(std::move(rmr)));
}

#if SOFTDAT_ABI == 20

DAT_RETURN rmr_create_for_ep(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  const auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  if (rmr_handle == nullptr) return refuse_argument(2);
  return refuse_model();
}

#endif

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
