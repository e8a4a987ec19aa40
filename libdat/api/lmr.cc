// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/memory_region.h"
#include "libdat/object/protection_zone.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::InterfaceAdapter;
using object::MemoryRegion;
using object::MemoryRegionParameters;
using object::ProtectionZone;

#if SOFTDAT_ABI == 20
constexpr std::uint32_t kPrivileges = DAT_MEM_PRIV_ALL_FLAG | DAT_MEM_PRIV_EXTENSION_BASE;
constexpr int kLmrHandleArgument = 8;
#else
// Sun's flag of relaxed ordering: what it gives up was never relaxed here.
constexpr std::uint32_t kPrivileges = DAT_MEM_PRIV_ALL_FLAG | DAT_MEM_PRIV_RO_DISABLE_FLAG;
constexpr int kLmrHandleArgument = 7;
#endif

// Everything a dat_lmr_create of either API is given, but for the handles.
struct Registration {
  std::uint32_t mem_type;
  std::uint64_t address;
  std::uint64_t length;
  std::uint32_t privileges;
};

struct RegistrationOutputs {
  DAT_LMR_HANDLE* lmr;
  // All of these may be null.
  DAT_LMR_CONTEXT* lmr_context;
  DAT_RMR_CONTEXT* rmr_context;
  DAT_VLEN* registered_size;
  DAT_VADDR* registered_address;
};

void write_outputs(const MemoryRegionParameters& lmr, const RegistrationOutputs& outputs) {
  if (outputs.lmr_context != nullptr) *outputs.lmr_context = lmr.lmr_context;
  if (outputs.rmr_context != nullptr) *outputs.rmr_context = lmr.rmr_context;
  if (outputs.registered_size != nullptr) *outputs.registered_size = lmr.registered_size;
  if (outputs.registered_address != nullptr) *outputs.registered_address = lmr.registered_address;
}

bool is_known_type(std::uint32_t mem_type) {
#if SOFTDAT_ABI == 12
  if (mem_type == DAT_MEM_TYPE_SO_VIRTUAL) return true;
#endif
  return mem_type <= DAT_MEM_TYPE_SHARED_VIRTUAL;
}

bool is_offered_type(std::uint32_t mem_type) {
  return mem_type != DAT_MEM_TYPE_LMR && mem_type != DAT_MEM_TYPE_SHARED_VIRTUAL;
}

DAT_RETURN create_lmr(InterfaceAdapter& ia, ProtectionZone& pz, const Registration& registration,
                      const RegistrationOutputs& outputs) {
  MemoryRegionParameters made;
  const DAT_RETURN answer = answer_of([&] {
    return MemoryRegion::create(ia, registration.address, registration.length, pz,
                                registration.privileges & object::kAllPrivileges, *outputs.lmr, made);
  });
  if (answer == DAT_SUCCESS) write_outputs(made, outputs);
  return answer;
}

void write_parameters(const MemoryRegionParameters& lmr, DAT_LMR_PARAM& parameters) {
  parameters.ia_handle = consumer_ia_handle(lmr.ia);
  parameters.mem_type = DAT_MEM_TYPE_VIRTUAL;
  parameters.region_desc.for_va = reinterpret_cast<DAT_PVOID>(lmr.address);
  parameters.length = lmr.length;
  parameters.pz_handle = lmr.pz;
  parameters.mem_priv = static_cast<DAT_MEM_PRIV_FLAGS>(lmr.privileges);
#if SOFTDAT_ABI == 20
  parameters.va_type = DAT_VA_TYPE_VA;
#endif
  parameters.lmr_context = lmr.lmr_context;
  parameters.rmr_context = lmr.rmr_context;
  parameters.registered_size = lmr.registered_size;
  parameters.registered_address = lmr.registered_address;
}

// Memory is coherent on every machine this runs on, so there is nothing to flush.
DAT_RETURN sync_segments(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  constexpr DAT_VLEN kMostSegments = 0x7fffffff;
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (segments == nullptr && count != 0) return refuse_argument(2);
  if (count > kMostSegments) return refuse_argument(3);
  return DAT_SUCCESS;
}

}  // namespace

#if SOFTDAT_ABI == 20
DAT_RETURN lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
                      DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges, DAT_VA_TYPE va_type,
                      DAT_LMR_HANDLE* lmr_handle, DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context,
                      DAT_VLEN* registered_size, DAT_VADDR* registered_address) {
#else
DAT_RETURN lmr_create(DAT_IA_HANDLE ia_handle, DAT_MEM_TYPE mem_type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
                      DAT_PZ_HANDLE pz_handle, DAT_MEM_PRIV_FLAGS privileges, DAT_LMR_HANDLE* lmr_handle,
                      DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context, DAT_VLEN* registered_size,
                      DAT_VADDR* registered_address) {
#endif
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  if (!is_known_type(number_of(mem_type))) return refuse_argument(2);
  if (has_unknown_bits(privileges, kPrivileges)) return refuse_argument(6);
#if SOFTDAT_ABI == 20
  if (number_of(va_type) > DAT_VA_TYPE_ZB) return refuse_argument(7);
#endif
  if (lmr_handle == nullptr) return refuse_argument(kLmrHandleArgument);
  if (!is_offered_type(number_of(mem_type))) return refuse_model();
#if SOFTDAT_ABI == 20
  if (number_of(va_type) == DAT_VA_TYPE_ZB) return refuse_model();
#endif
  return create_lmr(
      *ia, *pz, {number_of(mem_type), reinterpret_cast<std::uint64_t>(region.for_va), length, number_of(privileges)},
      {lmr_handle, lmr_context, rmr_context, registered_size, registered_address});
}

DAT_RETURN lmr_query(DAT_LMR_HANDLE lmr_handle, DAT_LMR_PARAM_MASK mask, DAT_LMR_PARAM* parameters) {
  const auto lmr = pin_handle<MemoryRegion>(lmr_handle);
  if (!lmr) return refuse_handle(StatusDetail::kInvalidHandleLmr);
  if (has_unknown_bits(mask, DAT_LMR_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  write_parameters(lmr->query(), *parameters);
  return DAT_SUCCESS;
}

DAT_RETURN lmr_free(DAT_LMR_HANDLE lmr_handle) {
  auto lmr = pin_handle<MemoryRegion>(lmr_handle);
  if (!lmr) return refuse_handle(StatusDetail::kInvalidHandleLmr);
  return return_code(MemoryRegion::free(std::move(lmr)));
}

DAT_RETURN lmr_sync_rdma_read(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  return sync_segments(ia_handle, segments, count);
}

DAT_RETURN lmr_sync_rdma_write(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  return sync_segments(ia_handle, segments, count);
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
