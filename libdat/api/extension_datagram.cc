// SPDX-License-Identifier: BSD-2-Clause
// Unreliable datagrams: sending one, and letting go of what an exchange has brought.
#include "libdat/api/answer.h"

#if SOFTDAT_ABI == 20

#include "libdat/api/extension.h"
#include "libdat/api/iov.h"
#include "libdat/object/address_handle.h"
#include "libdat/object/endpoint.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {

using object::AddressHandle;
using object::Endpoint;

DAT_RETURN post_send_datagram(DAT_HANDLE handle, va_list arguments) {
  const auto count = va_arg(arguments, DAT_COUNT);
  const auto* const triplets = va_arg(arguments, const DAT_LMR_TRIPLET*);
  const auto* const to = va_arg(arguments, const DAT_IB_ADDR_HANDLE*);
  const auto cookie = va_arg(arguments, DAT_DTO_COOKIE);
  const auto flags = va_arg(arguments, std::uint32_t);
  const auto ep = pin_handle<Endpoint>(handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  // Checked here, because Iov::read() would name the arguments of a plain post.
  if (count < 0 || count > api::kLargestIov) return refuse_argument(3);
  if (count > 0 && triplets == nullptr) return refuse_argument(4);
  if (to == nullptr) return refuse_argument(5);
  const auto peer = pin_handle<AddressHandle>(to->ah);
  if (!peer) return refuse_argument(5);
  Iov local;
  const Status read = local.read(triplets, count);
  if (!read.ok()) return return_code(read);
  return answer_of([&] { return ep->posts().post_datagram(local.segments(), *peer, to->qpn, cookie.as_64, flags); });
}

DAT_RETURN free_exchange(DAT_HANDLE handle, va_list arguments) {
  const auto exchange = va_arg(arguments, DAT_CONTEXT);
  const auto ep = pin_handle<Endpoint>(handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  return return_code(ep->exchanges().end(exchange.as_64));
}

DAT_RETURN free_address_handle(DAT_HANDLE handle, va_list arguments) {
  const auto* const address = va_arg(arguments, const DAT_IB_ADDR_HANDLE*);
  if (!pin_handle<Endpoint>(handle)) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (address == nullptr) return refuse_argument(3);
  auto pinned = pin_handle<AddressHandle>(address->ah);
  if (!pinned) return refuse_argument(3);
  return return_code(AddressHandle::free(std::move(pinned)));
}

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE

#endif
