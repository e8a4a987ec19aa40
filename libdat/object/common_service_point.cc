// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/common_service_point.h"

#include <arpa/inet.h>

#include "libdat/object/connection_request.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/free_qualifier.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"

namespace softdat::object {
namespace {

Status check_communicator(const Communicator& communicator) {
  Communicator exact = communicator;
  if (exact.protocol == 0) exact.protocol = kTcpCommunicator.protocol;
  return exact == kTcpCommunicator ? kOk : comm_not_supported();
}

// The wildcard stands for the only address that the adapter has.
Status check_address(const InterfaceAdapter& ia, const Communicator& communicator, const sockaddr_in& address) {
  const bool is_ours =
      address.sin_addr.s_addr == htonl(INADDR_ANY) || address.sin_addr.s_addr == ia.address().sin_addr.s_addr;
  const bool is_good = address.sin_family == communicator.domain && is_ours;
  return is_good ? kOk : invalid_parameter(StatusDetail::kInvalidArg3);
}

}  // namespace

CommonServicePoint::CommonServicePoint(InterfaceAdapter& ia, const Communicator& communicator,
                                       const sockaddr_in& address, EventDispatcher& evd)
    : Object(kKind, &ia),
      communicator_(communicator),
      address_(address),
      evd_(std::static_pointer_cast<EventDispatcher>(evd.shared_from_this())) {}

Status CommonServicePoint::create(InterfaceAdapter& ia, const Communicator& communicator, const sockaddr_in& address,
                                  EventDispatcher& evd, Handle& csp) {
  if (!evd.takes(kCrStream) || &evd.device() != &ia.device()) {
    return invalid_handle(StatusDetail::kInvalidHandleEvdCr);
  }
  if (const Status status = check_communicator(communicator); !status.ok()) return status;
  if (const Status status = check_address(ia, communicator, address); !status.ok()) return status;
  const std::shared_ptr<CommonServicePoint> self(new CommonServicePoint(ia, communicator, address, evd));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->start_listening(); !status.ok()) return status;
  csp = adoption.publish();
  return kOk;
}

Status CommonServicePoint::start_listening() {
  if (!evd_->add_stream()) return invalid_handle(StatusDetail::kInvalidHandleEvdCr);
  const std::uint16_t port = ntohs(address_.sin_port);
  const Status status = port != 0 ? listen_at(port)
                                  : try_free_qualifiers([&](std::uint16_t candidate) { return listen_at(candidate); },
                                                        StatusType::kPortInUse);
  if (!status.ok()) evd_->remove_stream();
  return status;
}

Status CommonServicePoint::listen_at(std::uint16_t port) {
  auto listener = ia().device().listen(port, kNoBacklog, *this);
  if (!listener) {
    if (listener.reason() == hca::Error::kAddressInUse) return port_in_use();
    return creation_failure(listener.reason(), StatusDetail::kResourceDevice, StatusDetail::kInvalidArg3);
  }
  address_.sin_port = htons(port);
  listener_ = std::move(*listener);
  return kOk;
}

Status CommonServicePoint::free(Pin<CommonServicePoint> csp) {
  const bool was_open = HandleTable::instance().close(as_object(std::move(csp)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleCsp);
}

void CommonServicePoint::detach() {
  listener_.reset();
  evd_->remove_stream();
}

CommonServicePointParameters CommonServicePoint::query() const {
  return {ia_handle(), &communicator_, &address_, evd_->handle()};
}

void CommonServicePoint::on_request(std::unique_ptr<hca::ConnectionRequest> request) {
  const std::uint64_t port = request->service_id();
  ConnectionRequest::announce(*this, port, *evd_, std::move(request), nullptr, kTcpCommunicator);
}

}  // namespace softdat::object
