// SPDX-License-Identifier: BSD-2-Clause
// CSP (DAT 2.0): a service point for programs that know each other by sockets' names, an address and a port. The port
// is its connection qualifier, so that it and public service points keep clear of each other.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>

#include "hca/device.h"
#include "libdat/object/endpoint_parameters.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/object.h"
#include "libdat/object/socket_address.h"
#include "libdat/object/status.h"

namespace softdat::object {

class EventDispatcher;

// How one of an adapter with such an address is spoken to.
constexpr Communicator tcp_communicator(int family) {
  return {family, SOCK_STREAM, IPPROTO_TCP};
}

struct CommonServicePointParameters {
  Handle ia;
  const Communicator* communicator;  // the CSP's, as is the address
  const SocketAddress* address;
  Handle evd;
};

// Any thread. The EVD's length is the backlog: a request that finds it full is refused.
class CommonServicePoint final : public Object, private hca::ListenerSink {
 public:
  static constexpr Kind kKind = Kind::kCsp;

  // dat_csp_create. Port 0 asks for one that is free. COMM_NOT_SUPPORTED unless it is TCP over the family of the
  // adapter's address; INVALID_PARAMETER for an address that is neither the adapter's nor the wildcard; PORT_IN_USE.
  static Status create(InterfaceAdapter& ia, const Communicator& communicator, const SocketAddress& address,
                       EventDispatcher& evd, Handle& csp);
  // dat_csp_free. Requests that were handed out stay answerable.
  static Status free(Pin<CommonServicePoint> csp);

  CommonServicePointParameters query() const;  // dat_csp_query

 private:
  CommonServicePoint(InterfaceAdapter& ia, const Communicator& communicator, const SocketAddress& address,
                     EventDispatcher& evd);
  Status start_listening();
  Status listen_at(std::uint16_t port);
  void on_request(std::unique_ptr<hca::ConnectionRequest> request) override;
  void detach() override;

  // Fixed after create(); the listener goes first.
  const Communicator communicator_;
  SocketAddress address_;
  std::shared_ptr<EventDispatcher> evd_;
  std::unique_ptr<hca::Listener> listener_;
};

}  // namespace softdat::object
