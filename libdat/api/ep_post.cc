// SPDX-License-Identifier: BSD-2-Clause
// The data path: a post pins its endpoint, looks at its arguments, and is in the object. The three that programs live
// on are of one piece down to the queue pair (flatten); what is rare in them keeps out of it (noinline, where it is
// defined).
#include <array>
#include <cstddef>

#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/iov.h"
#include "libdat/api/remote_buffer.h"
#include "libdat/object/endpoint.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Endpoint;

// Most programs post to an endpoint from one thread, so the light pin is nearly always free.
inline object::LightPin<Endpoint> pin_for_post(DAT_EP_HANDLE ep) {
  return object::HandleTable::instance().pin_lightly<Endpoint>(ep);
}

}  // namespace

[[gnu::flatten]] DAT_RETURN ep_post_send(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* iov,
                                         DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) {
  const auto ep = pin_for_post(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  Iov local;
  const Status read = local.read(iov, num_segments);
  if (!read.ok()) return return_code(read);
  return return_code(ep->posts().post_send(local.segments(), cookie.as_64, number_of(flags)));
}

[[gnu::flatten]] DAT_RETURN ep_post_recv(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* iov,
                                         DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags) {
  const auto ep = pin_for_post(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  Iov local;
  const Status read = local.read(iov, num_segments);
  if (!read.ok()) return return_code(read);
  return return_code(ep->posts().post_recv(local.segments(), cookie.as_64, number_of(flags)));
}

DAT_RETURN ep_post_rdma_read(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* iov,
                             DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote, DAT_COMPLETION_FLAGS flags) {
  const auto ep = pin_for_post(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  Iov local;
  const Status read = local.read(iov, num_segments);
  if (!read.ok()) return return_code(read);
  if (remote == nullptr) return refuse_argument(5);
  return return_code(
      ep->posts().post_rdma_read(local.segments(), cookie.as_64, remote_buffer_of(*remote), number_of(flags)));
}

[[gnu::flatten]] DAT_RETURN ep_post_rdma_write(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* iov,
                                               DAT_DTO_COOKIE cookie, const DAT_RMR_TRIPLET* remote,
                                               DAT_COMPLETION_FLAGS flags) {
  const auto ep = pin_for_post(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  Iov local;
  const Status read = local.read(iov, num_segments);
  if (!read.ok()) return return_code(read);
  if (remote == nullptr) return refuse_argument(5);
  return return_code(
      ep->posts().post_rdma_write(local.segments(), cookie.as_64, remote_buffer_of(*remote), number_of(flags)));
}

#if SOFTDAT_ABI == 20

DAT_RETURN ep_post_send_with_invalidate(DAT_EP_HANDLE ep_handle, DAT_COUNT num_segments, DAT_LMR_TRIPLET* iov,
                                        DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags, DAT_BOOLEAN invalidate_flag,
                                        DAT_RMR_CONTEXT rmr_context) {
  const auto ep = pin_for_post(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  Iov local;
  const Status read = local.read(iov, num_segments);
  if (!read.ok()) return return_code(read);
  if (has_unknown_bits(flags, kRequestFlags)) return refuse_argument(5);
  if (number_of(invalidate_flag) > DAT_TRUE) return refuse_argument(6);
  if (number_of(invalidate_flag) == DAT_FALSE) {
    return return_code(ep->posts().post_send(local.segments(), cookie.as_64, number_of(flags)));
  }
  return return_code(
      ep->posts().post_send_with_invalidate(local.segments(), cookie.as_64, number_of(flags), rmr_context));
}

DAT_RETURN ep_post_rdma_read_to_rmr(DAT_EP_HANDLE ep_handle, const DAT_RMR_TRIPLET* local, DAT_DTO_COOKIE cookie,
                                    const DAT_RMR_TRIPLET* remote, DAT_COMPLETION_FLAGS flags) {
  const auto ep = pin_for_post(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (local == nullptr) return refuse_argument(2);
  if (remote == nullptr) return refuse_argument(4);
  if (has_unknown_bits(flags, kRequestFlags)) return refuse_argument(5);
  return return_code(ep->posts().post_rdma_read_to_rmr(remote_buffer_of(*local), cookie.as_64,
                                                       remote_buffer_of(*remote), number_of(flags)));
}

#endif

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
