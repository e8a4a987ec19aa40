// SPDX-License-Identifier: BSD-2-Clause
#include <string>

#include "base/assert.h"
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/numbers.h"
#include "libdat/object/handle_words.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/memory_probe.h"
#include "libdat/object/memory_region.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/refusal.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

static_assert(sizeof(object::SharedCookie) == DAT_LMR_COOKIE_SIZE);
static_assert(int(object::MemoryType::kSharedVirtual) == DAT_MEM_TYPE_SHARED_VIRTUAL);

using object::InterfaceAdapter;
using object::MemoryRegion;
using object::MemoryRegionParameters;
using object::MemoryType;
using object::Pin;
using object::ProtectionZone;
using object::Registration;

#if SOFTDAT_ABI == 20
constexpr std::uint32_t kPrivileges = DAT_MEM_PRIV_ALL_FLAG | DAT_MEM_PRIV_EXTENSION_BASE;
constexpr int kLmrHandleArgument = 8;
#else
// Sun's flag of relaxed ordering: what it gives up was never relaxed here.
constexpr std::uint32_t kPrivileges = DAT_MEM_PRIV_ALL_FLAG | DAT_MEM_PRIV_RO_DISABLE_FLAG;
constexpr int kLmrHandleArgument = 7;
#endif

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
  // Solaris asks so for memory with strong ordering, which all memory here has.
  if (mem_type == DAT_MEM_TYPE_SO_VIRTUAL) return true;
#endif
  return mem_type <= DAT_MEM_TYPE_SHARED_VIRTUAL;
}

// What the caller's union and cookie mean, read only as far as they can be read.
bool read_region(const DAT_REGION_DESCRIPTION& region, MemoryType type, Registration& to) {
  to.type = type;
  if (type != MemoryType::kSharedVirtual) {
    to.address = reinterpret_cast<std::uint64_t>(region.for_va);
    return true;
  }
  const DAT_LMR_COOKIE cookie = region.for_shared_memory.shared_memory_id;
  const auto at = reinterpret_cast<std::uint64_t>(cookie);
  if (cookie == nullptr || !object::is_readable(at, sizeof(*cookie))) return false;
  std::memcpy(to.cookie.data(), cookie, sizeof(*cookie));
  to.address = reinterpret_cast<std::uint64_t>(region.for_shared_memory.virtual_address);
  return true;
}

DAT_RETURN create_lmr(InterfaceAdapter& ia, ProtectionZone& pz, const Registration& registration,
                      const RegistrationOutputs& outputs) {
  MemoryRegionParameters made;
  const DAT_RETURN answer = answer_of([&] { return MemoryRegion::create(ia, pz, registration, *outputs.lmr, made); });
  if (answer == DAT_SUCCESS) write_outputs(made, outputs);
  return answer;
}

DAT_REGION_DESCRIPTION description_of(const MemoryRegionParameters& lmr) {
  DAT_REGION_DESCRIPTION region{};
  switch (lmr.type) {
    case MemoryType::kLmr:
      region.for_lmr_handle = lmr.source;
      break;
    case MemoryType::kSharedVirtual:
      SOFTDAT_DEBUG_CHECK(lmr.cookie != nullptr, "shared memory has a cookie");
      region.for_shared_memory.virtual_address = reinterpret_cast<DAT_PVOID>(lmr.address);
      // The LMR's own copy; the DAT headers have no pointer to const for it.
      region.for_shared_memory.shared_memory_id =
          reinterpret_cast<DAT_LMR_COOKIE>(const_cast<object::SharedCookie*>(lmr.cookie));
      break;
    case MemoryType::kVirtual:
    case MemoryType::kStrongVirtual:
      region.for_va = reinterpret_cast<DAT_PVOID>(lmr.address);
      break;
  }
  return region;
}

void write_parameters(const MemoryRegionParameters& lmr, DAT_LMR_PARAM& parameters) {
  SOFTDAT_DEBUG_CHECK(lmr.ia != nullptr && lmr.pz != nullptr && lmr.length > 0, "an LMR has an IA, a PZ and bytes");
  SOFTDAT_DEBUG_CHECK((lmr.privileges & ~std::uint32_t{object::kAllPrivileges}) == 0, "the rights of an LMR are DAT's",
                      lmr.privileges);
  parameters.ia_handle = consumer_ia_handle(lmr.ia);
  parameters.mem_type = static_cast<DAT_MEM_TYPE>(lmr.type);
  parameters.region_desc = description_of(lmr);
  parameters.length = lmr.length;
  parameters.pz_handle = lmr.pz;
  parameters.mem_priv = static_cast<DAT_MEM_PRIV_FLAGS>(lmr.privileges);
#if SOFTDAT_ABI == 20
  parameters.va_type = lmr.is_zero_based ? DAT_VA_TYPE_ZB : DAT_VA_TYPE_VA;
#endif
  parameters.lmr_context = lmr.lmr_context;
  parameters.rmr_context = lmr.rmr_context;
  parameters.registered_size = lmr.registered_size;
  parameters.registered_address = lmr.registered_address;
}

// More than a few are not taken on trust: a wrong count must not run off the end of what is mapped.
bool is_readable_array(const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  if (count <= api::kLargestIov) return true;
  return object::is_readable(reinterpret_cast<std::uint64_t>(segments), count * sizeof(*segments));
}

// Memory is coherent on every machine this runs on, so there is nothing to flush, only to check.
DAT_RETURN sync_segments(DAT_IA_HANDLE ia_handle, const DAT_LMR_TRIPLET* segments, DAT_VLEN count) {
  constexpr DAT_VLEN kMostSegments = 0x7fffffff;
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  if (segments == nullptr && count != 0) return refuse_argument(2);
  if (count > kMostSegments) return refuse_argument(3);
  if (!is_readable_array(segments, count)) return refuse_argument(3);
  for (DAT_VLEN i = 0; i < count; ++i) {
    const DAT_LMR_TRIPLET& segment = segments[i];
    if (!ia->device().check_memory(segment.lmr_context, segment.virtual_address, segment.segment_length)) {
      return answer_of([&] {
        return object::because(object::invalid_parameter(StatusDetail::kInvalidArg2), [&] {
          return "segment " + std::to_string(i + 1) + " of local_segments leaves its region: " +
                 object::segment_text(*ia, segment.lmr_context, segment.virtual_address, segment.segment_length);
        });
      });
    }
  }
  return DAT_SUCCESS;
}

DAT_RETURN refuse_source(const InterfaceAdapter& ia, DAT_LMR_HANDLE source) {
  return answer_of([&] {
    return object::because(object::invalid_handle(StatusDetail::kInvalidHandleLmr), [&] {
      return "for_lmr_handle of region_description, which DAT_MEM_TYPE_LMR asks for, is " +
             object::handle_text(source, &ia);
    });
  });
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
  // Pinned for the whole call: the new LMR takes its memory from it.
  Pin<MemoryRegion> source;
  if (number_of(mem_type) == DAT_MEM_TYPE_LMR) {
    source = pin_handle<MemoryRegion>(region.for_lmr_handle);
    if (!source) return refuse_source(*ia, region.for_lmr_handle);
  }
  const auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  if (!is_known_type(number_of(mem_type))) return refuse_argument(2);
  Registration registration;
  if (!read_region(region, static_cast<MemoryType>(number_of(mem_type)), registration)) return refuse_argument(3);
  if (has_unknown_bits(privileges, kPrivileges)) return refuse_argument(6);
#if SOFTDAT_ABI == 20
  if (number_of(va_type) > DAT_VA_TYPE_ZB) return refuse_argument(7);
  registration.is_zero_based = number_of(va_type) == DAT_VA_TYPE_ZB;
#endif
  if (lmr_handle == nullptr) return refuse_argument(kLmrHandleArgument);
  registration.length = length;
  registration.source = source.get();
  // Bits that mean nothing to the objects are left out.
  registration.privileges = number_of(privileges) & object::kAllPrivileges;
  return create_lmr(*ia, *pz, registration,
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
