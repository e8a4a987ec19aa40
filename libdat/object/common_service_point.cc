// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/common_service_point.h"

#include <arpa/inet.h>

#include "base/assert.h"
#include "libdat/object/connection_request.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/free_qualifier.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/run_report.h"

namespace softdat::object {
namespace {

int family_of(const SocketAddress& address) {
  return address.inet.sin_family;
}

Status check_communicator(const InterfaceAdapter& ia, const Communicator& communicator) {
  const Communicator tcp = tcp_communicator(family_of(ia.address()));
  Communicator exact = communicator;
  // 0 stands for the only protocol of the domain.
  if (exact.protocol == 0) exact.protocol = tcp.protocol;
  return exact == tcp ? kOk : comm_not_supported();
}

bool is_same_host(const SocketAddress& a, const SocketAddress& b) {
  if (family_of(a) == AF_INET) return a.inet.sin_addr.s_addr == b.inet.sin_addr.s_addr;
  return IN6_ARE_ADDR_EQUAL(&a.inet6.sin6_addr, &b.inet6.sin6_addr);
}

bool is_wildcard(const SocketAddress& address) {
  if (family_of(address) == AF_INET) return address.inet.sin_addr.s_addr == htonl(INADDR_ANY);
  return IN6_IS_ADDR_UNSPECIFIED(&address.inet6.sin6_addr);
}

// The wildcard stands for the only address that the adapter has.
Status check_address(const InterfaceAdapter& ia, const Communicator& communicator, const SocketAddress& address) {
  const bool is_good =
      family_of(address) == communicator.domain && (is_wildcard(address) || is_same_host(address, ia.address()));
  return is_good ? kOk : invalid_parameter(StatusDetail::kInvalidArg3);
}

}  // namespace

CommonServicePoint::CommonServicePoint(InterfaceAdapter& ia, const Communicator& communicator,
                                       const SocketAddress& address, EventDispatcher& evd)
    : Object(kKind, &ia),
      communicator_(communicator),
      address_(address),
      evd_(std::static_pointer_cast<EventDispatcher>(evd.shared_from_this())) {}

Status CommonServicePoint::create(InterfaceAdapter& ia, const Communicator& communicator, const SocketAddress& address,
                                  EventDispatcher& evd, Handle& csp) {
  if (!evd.streams().takes(kCrStream) || &evd.ia().device() != &ia.device()) {
    return invalid_handle(StatusDetail::kInvalidHandleEvdCr);
  }
  if (const Status status = check_communicator(ia, communicator); !status.ok()) return status;
  if (const Status status = check_address(ia, communicator, address); !status.ok()) return status;
  const std::shared_ptr<CommonServicePoint> self(new CommonServicePoint(ia, communicator, address, evd));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->start_listening(); !status.ok()) return status;
  csp = adoption.publish();
  report_listening(ia, ntohs(self->address_.inet.sin_port));
  return kOk;
}

Status CommonServicePoint::start_listening() {
  if (!evd_->streams().add()) return invalid_handle(StatusDetail::kInvalidHandleEvdCr);
  // Both families have it in the same place.
  const std::uint16_t port = ntohs(address_.inet.sin_port);
  const Status status = port != 0 ? listen_at(port)
                                  : try_free_qualifiers([&](std::uint16_t candidate) { return listen_at(candidate); },
                                                        StatusType::kPortInUse);
  if (!status.ok()) evd_->streams().remove();
  return status;
}

Status CommonServicePoint::listen_at(std::uint16_t port) {
  auto listener = ia().device().listen(port, kNoBacklog, *this);
  if (!listener) {
    if (listener.reason() == hca::Error::kAddressInUse) return port_in_use();
    return creation_failure(listener.reason(), StatusDetail::kResourceDevice, StatusDetail::kInvalidArg3);
  }
  SOFTDAT_DEBUG_CHECK(listener_ == nullptr, "a service point listens once");
  // A CSP is asked for with port 0, and told which one it got (dat_csp_query(3DAT)).
  address_.inet.sin_port = htons(port);
  listener_ = std::move(*listener);
  return kOk;
}

Status CommonServicePoint::free(Pin<CommonServicePoint> csp) {
  const bool was_open = HandleTable::instance().close(as_object(std::move(csp)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleCsp);
}

// The listener's destructor waits for on_request(), so no request comes afterwards.
void CommonServicePoint::detach() {
  SOFTDAT_DEBUG_CHECK(listener_ != nullptr, "a service point listens until it is freed");
  listener_.reset();
  evd_->streams().remove();
}

CommonServicePointParameters CommonServicePoint::query() const {
  return {ia_handle(), &communicator_, &address_, evd_->handle()};
}

// The device calls this with no lock held, one sink at a time.
void CommonServicePoint::on_request(std::unique_ptr<hca::ConnectionRequest> request) {
  const std::uint64_t port = request->service_id();
  ConnectionRequest::announce(*this, port, *evd_, std::move(request), nullptr, tcp_communicator(family_of(address_)));
}

}  // namespace softdat::object
