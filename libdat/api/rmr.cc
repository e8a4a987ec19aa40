// SPDX-License-Identifier: BSD-2-Clause
#include <cstdio>
#include <string>

#include "base/assert.h"
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/numbers.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/memory_region.h"
#include "libdat/object/memory_window.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/refusal.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Endpoint;
using object::MemoryRegion;
using object::MemoryWindow;
using object::MemoryWindowParameters;
using object::ProtectionZone;
using object::WindowBind;
using object::WindowScope;

constexpr std::uint32_t kBindFlags =
    DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG;

#if SOFTDAT_ABI == 20
static_assert(int(WindowScope::kEndpoint) == DAT_RMR_SCOPE_EP);
static_assert(int(WindowScope::kZone) == DAT_RMR_SCOPE_PZ);
constexpr StatusDetail kTripletArgument = StatusDetail::kInvalidArg3;
constexpr StatusDetail kFlagsArgument = StatusDetail::kInvalidArg8;
#else
constexpr StatusDetail kTripletArgument = StatusDetail::kInvalidArg2;
constexpr StatusDetail kFlagsArgument = StatusDetail::kInvalidArg6;
#endif

#if SOFTDAT_ABI == 20
DAT_RETURN refuse_other_region(const DAT_LMR_TRIPLET& triplet, const MemoryRegion& lmr) {
  return answer_of([&] {
    return object::because(object::invalid_parameter(kTripletArgument), [&] {
      char text[96];
      std::snprintf(text, sizeof text, "lmr_context of lmr_triplet is 0x%x, and that of lmr_handle is 0x%x; ",
                    triplet.lmr_context, lmr.query().lmr_context);
      return text + std::string("lmr_handle is ") + object::handle_text(lmr.handle(), &lmr.ia());
    });
  });
}
#endif

DAT_RETURN create_rmr(DAT_PZ_HANDLE pz_handle, WindowScope scope, DAT_RMR_HANDLE* rmr_handle) {
  const auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  if (rmr_handle == nullptr) return refuse_argument(2);
  return answer_of([&] { return MemoryWindow::create(*pz, scope, *rmr_handle); });
}

void write_parameters(const MemoryWindowParameters& rmr, DAT_RMR_PARAM& parameters) {
  SOFTDAT_DEBUG_CHECK(rmr.ia != nullptr && rmr.pz != nullptr, "an RMR belongs to an IA and a PZ");
  SOFTDAT_DEBUG_CHECK((rmr.rmr_context == 0) == (rmr.length == 0), "a window that is bound has a context and bytes",
                      rmr.rmr_context, rmr.length);
  DAT_RMR_PARAM all{};
  all.ia_handle = consumer_ia_handle(rmr.ia);
  all.pz_handle = rmr.pz;
  all.lmr_triplet.lmr_context = rmr.lmr_context;
  all.lmr_triplet.virtual_address = rmr.address;
#if SOFTDAT_ABI == 20
  all.lmr_triplet.segment_length = api::length32(rmr.length);
  all.rmr_scope = static_cast<DAT_RMR_SCOPE>(rmr.scope);
  all.va_type = rmr.is_zero_based ? DAT_VA_TYPE_ZB : DAT_VA_TYPE_VA;
#else
  all.lmr_triplet.segment_length = rmr.length;
#endif
  all.mem_priv = static_cast<DAT_MEM_PRIV_FLAGS>(rmr.privileges);
  all.rmr_context = rmr.rmr_context;
  parameters = all;
}

// The outputs of a failed bind stay as they are.
DAT_RETURN bind(const MemoryWindow& rmr, Endpoint& ep, const WindowBind& wish, DAT_RMR_COOKIE cookie,
                std::uint32_t flags, DAT_RMR_CONTEXT& context) {
  std::uint32_t key = 0;
  const Status status = ep.posts().post_bind(rmr, wish, cookie.as_64, flags, kTripletArgument, kFlagsArgument, key);
  // Programs keep the context of the last bind in the same variable.
  if (status.ok()) context = key;
  return return_code(status);
}

}  // namespace

DAT_RETURN rmr_create(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  return create_rmr(pz_handle, WindowScope::kZone, rmr_handle);
}

DAT_RETURN rmr_query(DAT_RMR_HANDLE rmr_handle, DAT_RMR_PARAM_MASK mask, DAT_RMR_PARAM* parameters) {
  const auto rmr = pin_handle<MemoryWindow>(rmr_handle);
  if (!rmr) return refuse_handle(StatusDetail::kInvalidHandleRmr);
  if (has_unknown_bits(mask, DAT_RMR_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  write_parameters(rmr->query(), *parameters);
  return DAT_SUCCESS;
}

#if SOFTDAT_ABI == 20
DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr_handle, DAT_LMR_HANDLE lmr_handle, const DAT_LMR_TRIPLET* triplet,
                    DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type, DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie,
                    DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
  const auto rmr = pin_handle<MemoryWindow>(rmr_handle);
  if (!rmr) return refuse_handle(StatusDetail::kInvalidHandleRmr);
  const auto lmr = pin_handle<MemoryRegion>(lmr_handle);
  if (!lmr) return refuse_handle(StatusDetail::kInvalidHandleLmr);
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  // Contexts are numbers of one adapter.
  if (&lmr->device() != &rmr->device()) return refuse_handle(StatusDetail::kInvalidHandleLmr);
  if (triplet == nullptr) return refuse_argument(3);
  // A length of 0 unbinds, whatever the context is (dat_rmr_bind(3DAT)).
  const bool is_of_lmr = triplet->segment_length == 0 || triplet->lmr_context == lmr->query().lmr_context;
  if (!is_of_lmr) return refuse_other_region(*triplet, *lmr);
  if (has_unknown_bits(privileges, object::kAllPrivileges)) return refuse_argument(4);
  if (number_of(va_type) > DAT_VA_TYPE_ZB) return refuse_argument(5);
  if (has_unknown_bits(flags, kBindFlags)) return refuse_argument(8);
  if (context == nullptr) return refuse_argument(9);
  return bind(*rmr, *ep,
              {.lmr_context = triplet->lmr_context,
               .address = triplet->virtual_address,
               .length = triplet->segment_length,
               .privileges = number_of(privileges),
               .is_zero_based = number_of(va_type) == DAT_VA_TYPE_ZB},
              cookie, number_of(flags), *context);
}
#else
DAT_RETURN rmr_bind(DAT_RMR_HANDLE rmr_handle, const DAT_LMR_TRIPLET* triplet, DAT_MEM_PRIV_FLAGS privileges,
                    DAT_EP_HANDLE ep_handle, DAT_RMR_COOKIE cookie, DAT_COMPLETION_FLAGS flags,
                    DAT_RMR_CONTEXT* context) {
  const auto rmr = pin_handle<MemoryWindow>(rmr_handle);
  if (!rmr) return refuse_handle(StatusDetail::kInvalidHandleRmr);
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (triplet == nullptr) return refuse_argument(2);
  if (has_unknown_bits(privileges, DAT_MEM_PRIV_ALL_FLAG)) return refuse_argument(3);
  if (has_unknown_bits(flags, kBindFlags)) return refuse_argument(6);
  if (context == nullptr) return refuse_argument(7);
  return bind(*rmr, *ep,
              {.lmr_context = triplet->lmr_context,
               .address = triplet->virtual_address,
               .length = triplet->segment_length,
               .privileges = number_of(privileges),
               .is_zero_based = false},
              cookie, number_of(flags), *context);
}
#endif

DAT_RETURN rmr_free(DAT_RMR_HANDLE rmr_handle) {
  auto rmr = pin_handle<MemoryWindow>(rmr_handle);
  if (!rmr) return refuse_handle(StatusDetail::kInvalidHandleRmr);
  return return_code(MemoryWindow::free(std::move(rmr)));
}

#if SOFTDAT_ABI == 20

DAT_RETURN rmr_create_for_ep(DAT_PZ_HANDLE pz_handle, DAT_RMR_HANDLE* rmr_handle) {
  return create_rmr(pz_handle, WindowScope::kEndpoint, rmr_handle);
}

#endif

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
