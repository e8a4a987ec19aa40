// SPDX-License-Identifier: BSD-2-Clause
#include <sys/socket.h>

#include <string>

#include "libdat/api/answer.h"
#include "libdat/api/entry_points.h"
#include "libdat/api/private_data.h"
#include "libdat/object/common_service_point.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/refusal.h"

namespace softdat::SOFTDAT_ABI_NAMESPACE {
namespace {

using object::ConnectRequest;
using object::Endpoint;
using object::Pin;

#if SOFTDAT_ABI == 20
constexpr std::uint32_t kConnectFlags = DAT_CONNECT_MULTIPATH_FLAG | DAT_CONNECT_MULTIPATH_REQUIRED_FLAG;
#else
constexpr std::uint32_t kConnectFlags = DAT_CONNECT_MULTIPATH_FLAG;
#endif

// The port inside is ignored: some programs have written a service point's there.
Status read_address(const DAT_SOCK_ADDR& from, hca::Address& to) {
  const auto address = base::from_socket_address(from);
  if (!address) {
    return object::because(object::invalid_address(StatusDetail::kInvalidAddressUnsupported), [&] {
      return "the address family is " + std::to_string(from.sa_family) + "; allowed: AF_INET (" +
             std::to_string(AF_INET) + ") and AF_INET6 (" + std::to_string(AF_INET6) + ")";
    });
  }
  to = address->with_port(0);
  return object::kOk;
}

#if SOFTDAT_ABI == 20
std::uint16_t port_of(const DAT_SOCK_ADDR& address) {
  const auto read = base::from_socket_address(address);
  return read ? read->port : 0;
}
#endif

DAT_RETURN refuse_qos(std::uint32_t qos) {
  return answer_of([&] {
    return object::because(object::model_not_supported(), [&] {
      return "qos is " + std::to_string(qos) +
             ", which is no value of DAT_QOS; DAT_QOS_BEST_EFFORT (0) is always allowed";
    });
  });
}

struct Wish {
  DAT_TIMEOUT timeout;
  DAT_COUNT private_data_size;
  const void* private_data;
};

// `number` is that of the timeout among the arguments; the others follow it.
Status check_wish(const Endpoint& ep, const Wish& wish, int number) {
  if (wish.timeout == 0) return object::invalid_parameter(argument(number));
  return check_private_data(ep.ia(), wish.private_data_size, wish.private_data, number + 1);
}

}  // namespace

DAT_RETURN ep_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address, DAT_CONN_QUAL remote_conn_qual,
                      DAT_TIMEOUT timeout, DAT_COUNT private_data_size, const DAT_PVOID private_data, DAT_QOS qos,
                      DAT_CONNECT_FLAGS flags) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (remote_ia_address == nullptr) return refuse_argument(2);
  const Status wish = check_wish(*ep, {timeout, private_data_size, private_data}, 4);
  if (!wish.ok()) return return_code(wish);
  if (has_unknown_bits(flags, kConnectFlags)) return refuse_argument(8);
  if (has_unknown_bits(qos, object::kAllQos)) return refuse_qos(number_of(qos));
  ConnectRequest request{.remote = {},
                         .conn_qual = remote_conn_qual,
                         .timeout_us = timeout,
                         .private_data = private_data_of(private_data_size, private_data),
                         .qos = number_of(qos),
                         .flags = number_of(flags)};
  const Status address = read_address(*remote_ia_address, request.remote);
  if (!address.ok()) return return_code(address);
  return answer_of([&] { return ep->connection().connect(request); });
}

DAT_RETURN ep_dup_connect(DAT_EP_HANDLE ep_handle, DAT_EP_HANDLE dup_ep_handle, DAT_TIMEOUT timeout,
                          DAT_COUNT private_data_size, const DAT_PVOID private_data, DAT_QOS qos) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  const auto dup_ep = pin_handle<Endpoint>(dup_ep_handle);
  if (!dup_ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  const Status wish = check_wish(*ep, {timeout, private_data_size, private_data}, 3);
  if (!wish.ok()) return return_code(wish);
  if (has_unknown_bits(qos, object::kAllQos)) return refuse_qos(number_of(qos));
  const ConnectRequest request{.remote = {},
                               .timeout_us = timeout,
                               .private_data = private_data_of(private_data_size, private_data),
                               .qos = number_of(qos)};
  return answer_of([&] { return ep->connection().connect_like(dup_ep->connection(), request); });
}

DAT_RETURN ep_disconnect(DAT_EP_HANDLE ep_handle, DAT_CLOSE_FLAGS flags) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (has_unknown_bits(flags, DAT_CLOSE_GRACEFUL_FLAG)) return refuse_argument(2);
  return answer_of([&] { return ep->connection().disconnect(number_of(flags) == DAT_CLOSE_GRACEFUL_FLAG); });
}

#if SOFTDAT_ABI == 20

DAT_RETURN ep_common_connect(DAT_EP_HANDLE ep_handle, DAT_IA_ADDRESS_PTR remote_ia_address, DAT_TIMEOUT timeout,
                             DAT_COUNT private_data_size, const DAT_PVOID private_data) {
  const auto ep = pin_handle<Endpoint>(ep_handle);
  if (!ep) return refuse_handle(StatusDetail::kInvalidHandleEp);
  if (remote_ia_address == nullptr) return refuse_argument(2);
  const Status wish = check_wish(*ep, {timeout, private_data_size, private_data}, 3);
  if (!wish.ok()) return return_code(wish);
  ConnectRequest request{.remote = {},
                         // dat_ep_common_connect(3DAT): the port of the address stands for the connection qualifier.
                         .conn_qual = port_of(*remote_ia_address),
                         .timeout_us = timeout,
                         .private_data = private_data_of(private_data_size, private_data),
                         .communicator = object::tcp_communicator(remote_ia_address->sa_family)};
  const Status address = read_address(*remote_ia_address, request.remote);
  if (!address.ok()) return return_code(address);
  if (request.conn_qual == 0) return return_code(object::invalid_address(StatusDetail::kInvalidAddressMalformed));
  return answer_of([&] { return ep->connection().connect(request); });
}

#endif

}  // namespace softdat::SOFTDAT_ABI_NAMESPACE
