// SPDX-License-Identifier: BSD-2-Clause
// Atomics and the write with immediate data.
#include "libdat/api/answer.h"

#if SOFTDAT_ABI == 20

#include "libdat/api/extension.h"
#include "libdat/api/iov.h"
#include "libdat/api/remote_buffer.h"
#include "libdat/object/endpoint.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::Endpoint;
using object::Segment;

// An enum that a consumer may have filled with any number.
std::uint32_t take_flags(va_list arguments) {
  return va_arg(arguments, std::uint32_t);
}

Segment segment_of(const DAT_LMR_TRIPLET& local) {
  return {local.virtual_address, local.segment_length, local.lmr_context};
}

}  // namespace

DAT_RETURN post_fetch_and_add(DAT_HANDLE handle, va_list arguments) {
  const auto addend = va_arg(arguments, DAT_UINT64);
  const auto* const local = va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  const auto* const remote = va_arg(arguments, const DAT_RMR_TRIPLET*);
  const std::uint32_t flags = take_flags(arguments);
  const auto ep = pin_handle<Endpoint>(handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (local == nullptr) return refuse_argument(4);
  if (remote == nullptr) return refuse_argument(6);
  return return_code(
      ep->posts().post_fetch_and_add(addend, segment_of(*local), cookie.as_64, remote_buffer_of(*remote), flags));
}

DAT_RETURN post_cmp_and_swap(DAT_HANDLE handle, va_list arguments) {
  const auto compare = va_arg(arguments, DAT_UINT64);
  const auto swap = va_arg(arguments, DAT_UINT64);
  const auto* const local = va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  const auto* const remote = va_arg(arguments, const DAT_RMR_TRIPLET*);
  const std::uint32_t flags = take_flags(arguments);
  const auto ep = pin_handle<Endpoint>(handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (local == nullptr) return refuse_argument(5);
  if (remote == nullptr) return refuse_argument(7);
  return return_code(ep->posts().post_compare_and_swap(compare, swap, segment_of(*local), cookie.as_64,
                                                       remote_buffer_of(*remote), flags));
}

DAT_RETURN post_rdma_write_immediate(DAT_HANDLE handle, va_list arguments) {
  const auto count = va_arg(arguments, DAT_COUNT);
  const auto* const triplets = va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  const auto* const remote = va_arg(arguments, const DAT_RMR_TRIPLET*);
  const auto immediate = va_arg(arguments, DAT_UINT32);
  const std::uint32_t flags = take_flags(arguments);
  const auto ep = pin_handle<Endpoint>(handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (count < 0 || count > api::kLargestIov) return refuse_argument(3);
  if (count > 0 && triplets == nullptr) return refuse_argument(4);
  if (remote == nullptr) return refuse_argument(6);
  Iov local;
  const Status read = local.read(triplets, count);
  if (!read.ok()) return return_code(read);
  return return_code(ep->posts().post_rdma_write_immediate(local.segments(), cookie.as_64, remote_buffer_of(*remote),
                                                           immediate, flags));
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
