// SPDX-License-Identifier: BSD-2-Clause
// The only place where the conformance suite knows which DAT it was compiled against. The same
// sources make conformance_dat12 (<dat/udat.h>, libdat) and conformance_dat20 (<dat2/udat.h>,
// libdat2); SOFTDAT_DAT_MAJOR says which.
#pragma once

#if SOFTDAT_DAT_MAJOR == 1
#include <dat/udat.h>
#else
#include <dat2/udat.h>
#endif

#include <cstddef>
#include <cstdint>
#include <optional>

namespace softdat::conformance {

#if SOFTDAT_DAT_MAJOR == 1
inline constexpr bool kIsDat2 = false;
using SegmentLength = DAT_VLEN;
// DAT 1.2 calls on a dispatcher name "the first handle", DAT 2.0 calls the request dispatcher.
inline constexpr DAT_RETURN_SUBTYPE kEvdSubtype = DAT_INVALID_HANDLE1;
#else
inline constexpr bool kIsDat2 = true;
using SegmentLength = DAT_SEG_LENGTH;
inline constexpr DAT_RETURN_SUBTYPE kEvdSubtype = DAT_INVALID_HANDLE_EVD_REQUEST;
#endif

// What completed, as far as this version of DAT tells.
enum class Operation { kSend, kRdmaWrite, kRdmaRead, kReceive, kOther };

inline std::optional<Operation> operation_of([[maybe_unused]] const DAT_DTO_COMPLETION_EVENT_DATA& completion) {
#if SOFTDAT_DAT_MAJOR == 1
  return std::nullopt;
#else
  switch (completion.operation) {
    case DAT_DTO_SEND:
      return Operation::kSend;
    case DAT_DTO_RDMA_WRITE:
      return Operation::kRdmaWrite;
    case DAT_DTO_RDMA_READ:
      return Operation::kRdmaRead;
    case DAT_DTO_RECEIVE:
      return Operation::kReceive;
    default:
      return Operation::kOther;
  }
#endif
}

inline DAT_RETURN create_lmr(DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region, DAT_VLEN length,
                             DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS privileges, DAT_LMR_HANDLE* lmr,
                             DAT_LMR_CONTEXT* lmr_context, DAT_RMR_CONTEXT* rmr_context, DAT_VLEN* registered_size,
                             DAT_VADDR* registered_address) {
#if SOFTDAT_DAT_MAJOR == 1
  return dat_lmr_create(ia, type, region, length, pz, privileges, lmr, lmr_context, rmr_context, registered_size,
                        registered_address);
#else
  return dat_lmr_create(ia, type, region, length, pz, privileges, DAT_VA_TYPE_VA, lmr, lmr_context, rmr_context,
                        registered_size, registered_address);
#endif
}

inline DAT_RETURN reject_cr(DAT_CR_HANDLE cr) {
#if SOFTDAT_DAT_MAJOR == 1
  return dat_cr_reject(cr);
#else
  return dat_cr_reject(cr, 0, nullptr);
#endif
}

inline DAT_RETURN bind_rmr(DAT_RMR_HANDLE rmr, [[maybe_unused]] DAT_LMR_HANDLE lmr, const DAT_LMR_TRIPLET* triplet,
                           DAT_MEM_PRIV_FLAGS privileges, DAT_EP_HANDLE ep, DAT_RMR_COOKIE cookie,
                           DAT_COMPLETION_FLAGS flags, DAT_RMR_CONTEXT* context) {
#if SOFTDAT_DAT_MAJOR == 1
  return dat_rmr_bind(rmr, triplet, privileges, ep, cookie, flags, context);
#else
  return dat_rmr_bind(rmr, lmr, triplet, privileges, DAT_VA_TYPE_VA, ep, cookie, flags, context);
#endif
}

inline DAT_LMR_TRIPLET make_local(const void* address, std::size_t length, DAT_LMR_CONTEXT context) {
  DAT_LMR_TRIPLET triplet{};
  triplet.virtual_address = reinterpret_cast<std::uintptr_t>(address);
  triplet.segment_length = static_cast<SegmentLength>(length);
  triplet.lmr_context = context;
  return triplet;
}

inline DAT_RMR_TRIPLET make_remote(std::uint64_t address, std::size_t length, DAT_RMR_CONTEXT context) {
  DAT_RMR_TRIPLET triplet{};
#if SOFTDAT_DAT_MAJOR == 1
  triplet.target_address = address;
#else
  triplet.virtual_address = address;
#endif
  triplet.segment_length = static_cast<SegmentLength>(length);
  triplet.rmr_context = context;
  return triplet;
}

inline DAT_RMR_TRIPLET make_remote(const void* address, std::size_t length, DAT_RMR_CONTEXT context) {
  return make_remote(std::uint64_t{reinterpret_cast<std::uintptr_t>(address)}, length, context);
}

// The agent that a CNO was given, as dat_cno_query tells it.
inline DAT_OS_WAIT_PROXY_AGENT agent_of(const DAT_CNO_PARAM& param) {
#if SOFTDAT_DAT_MAJOR == 1
  return param.agent;
#else
  if (param.proxy_type != DAT_PROXY_TYPE_AGENT) return {nullptr, nullptr};
  return param.proxy.agent;
#endif
}

}  // namespace softdat::conformance
