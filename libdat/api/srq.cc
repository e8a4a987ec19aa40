// SPDX-License-Identifier: BSD-2-Clause
// Shared receive queues come with a later issue: their calls check and then say so.
#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::InterfaceAdapter;
using object::Kind;
using object::ProtectionZone;

bool is_srq(DAT_SRQ_HANDLE handle) {
  return is_handle_of(handle, Kind::kSrq);
}

DAT_RETURN refuse_srq() {
  return refuse_handle(StatusDetail::kInvalidHandleSrq);
}

}  // namespace

DAT_RETURN srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* attributes,
                      DAT_SRQ_HANDLE* srq_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  if (attributes == nullptr) return refuse_argument(3);
  if (attributes->max_recv_dtos <= 0 || attributes->max_recv_iov < 0) return refuse_argument(3);
  if (srq_handle == nullptr) return refuse_argument(4);
  return refuse_model();
}

DAT_RETURN srq_free(DAT_SRQ_HANDLE srq_handle) {
  if (!is_srq(srq_handle)) return refuse_srq();
  return refuse_model();
}

DAT_RETURN srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* iov, DAT_DTO_COOKIE) {
  if (!is_srq(srq_handle)) return refuse_srq();
  if (num_segments < 0) return refuse_argument(2);
  if (num_segments > 0 && iov == nullptr) return refuse_argument(3);
  return refuse_model();
}

DAT_RETURN srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM* parameters) {
  if (!is_srq(srq_handle)) return refuse_srq();
  if (has_unknown_bits(mask, DAT_SRQ_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  return refuse_model();
}

DAT_RETURN srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT max_recv_dtos) {
  if (!is_srq(srq_handle)) return refuse_srq();
  if (max_recv_dtos <= 0) return refuse_argument(2);
  return refuse_model();
}

DAT_RETURN srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark) {
  if (!is_srq(srq_handle)) return refuse_srq();
  if (low_watermark < 0) return refuse_argument(2);
  return refuse_model();
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
