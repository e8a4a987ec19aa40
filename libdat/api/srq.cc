// SPDX-License-Identifier: BSD-2-Clause
#include "base/assert.h"
#include "libdat/api/answer.h"
#include "libdat/api/consumer_handle.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/iov.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::InterfaceAdapter;
using object::ProtectionZone;
using object::SharedReceiveQueue;
using object::SharedReceiveQueueAttributes;
using object::SharedReceiveQueueParameters;

DAT_RETURN refuse_srq() {
  return refuse_handle(StatusDetail::kInvalidHandleSrq);
}

void write_parameters(const SharedReceiveQueueParameters& from, DAT_SRQ_PARAM& to) {
  SOFTDAT_DEBUG_CHECK(from.ia != nullptr && from.pz != nullptr, "an SRQ belongs to an IA and a PZ");
  to = {};
  to.ia_handle = consumer_ia_handle(from.ia);
  // No queue of ours comes into another state.
  to.srq_state = DAT_SRQ_STATE_OPERATIONAL;
  to.pz_handle = from.pz;
  to.max_recv_dtos = from.attributes.max_recv_dtos;
  to.max_recv_iov = from.attributes.max_recv_iov;
  to.low_watermark = from.attributes.low_watermark;
  to.available_dto_count = from.available;
  to.outstanding_dto_count = from.outstanding;
}

}  // namespace

DAT_RETURN srq_create(DAT_IA_HANDLE ia_handle, DAT_PZ_HANDLE pz_handle, DAT_SRQ_ATTR* attributes,
                      DAT_SRQ_HANDLE* srq_handle) {
  const auto ia = pin_handle<InterfaceAdapter>(ia_handle);
  if (!ia) return refuse_handle(StatusDetail::kInvalidHandleIa);
  const auto pz = pin_handle<ProtectionZone>(pz_handle);
  if (!pz) return refuse_handle(StatusDetail::kInvalidHandlePz);
  if (attributes == nullptr) return refuse_argument(3);
  const SharedReceiveQueueAttributes wanted{.max_recv_dtos = attributes->max_recv_dtos,
                                            .max_recv_iov = attributes->max_recv_iov,
                                            .low_watermark = attributes->low_watermark};
  if (srq_handle == nullptr) return refuse_argument(4);
  return answer_of([&] { return SharedReceiveQueue::create(*ia, *pz, wanted, *srq_handle); });
}

DAT_RETURN srq_free(DAT_SRQ_HANDLE srq_handle) {
  auto srq = pin_handle<SharedReceiveQueue>(srq_handle);
  if (!srq) return refuse_srq();
  return return_code(SharedReceiveQueue::free(std::move(srq)));
}

DAT_RETURN srq_post_recv(DAT_SRQ_HANDLE srq_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* iov,
                         DAT_DTO_COOKIE cookie) {
  const auto srq = pin_handle<SharedReceiveQueue>(srq_handle);
  if (!srq) return refuse_srq();
  Iov local;
  const Status read = local.read(iov, num_segments);
  if (!read.ok()) return return_code(read);
  return return_code(srq->post_recv(local.segments(), cookie.as_64));
}

DAT_RETURN srq_query(DAT_SRQ_HANDLE srq_handle, DAT_SRQ_PARAM_MASK mask, DAT_SRQ_PARAM* parameters) {
  const auto srq = pin_handle<SharedReceiveQueue>(srq_handle);
  if (!srq) return refuse_srq();
  if (has_unknown_bits(mask, DAT_SRQ_FIELD_ALL)) return refuse_argument(2);
  if (parameters == nullptr) return refuse_argument(3);
  write_parameters(srq->query(), *parameters);
  return DAT_SUCCESS;
}

DAT_RETURN srq_resize(DAT_SRQ_HANDLE srq_handle, DAT_COUNT max_recv_dtos) {
  const auto srq = pin_handle<SharedReceiveQueue>(srq_handle);
  if (!srq) return refuse_srq();
  return return_code(srq->resize(max_recv_dtos));
}

DAT_RETURN srq_set_lw(DAT_SRQ_HANDLE srq_handle, DAT_COUNT low_watermark) {
  const auto srq = pin_handle<SharedReceiveQueue>(srq_handle);
  if (!srq) return refuse_srq();
  return answer_of([&] { return srq->set_low_watermark(low_watermark); });
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
