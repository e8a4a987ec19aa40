// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/reserved_service_point.h"

#include "base/assert.h"
#include "libdat/object/connection_request.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/run_report.h"

namespace softdat::object {

ReservedServicePoint::ReservedServicePoint(InterfaceAdapter& ia, std::uint64_t conn_qual, Endpoint* ep,
                                           EventDispatcher& evd)
    : Object(kKind, &ia),
      evd_(std::static_pointer_cast<EventDispatcher>(evd.shared_from_this())),
      ep_(ep == nullptr ? nullptr : std::static_pointer_cast<Endpoint>(ep->shared_from_this())),
      conn_qual_(conn_qual) {}

Status ReservedServicePoint::create(InterfaceAdapter& ia, std::uint64_t conn_qual, Endpoint* ep, EventDispatcher& evd,
                                    Handle& rsp) {
  if (ep != nullptr && &ep->ia().device() != &ia.device()) {
    return invalid_handle(StatusDetail::kInvalidHandleEp);
  }
  if (!evd.streams().takes(kCrStream) || &evd.ia().device() != &ia.device()) {
    return invalid_handle(StatusDetail::kInvalidHandleEvdCr);
  }
  const std::shared_ptr<ReservedServicePoint> self(new ReservedServicePoint(ia, conn_qual, ep, evd));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->start_listening(); !status.ok()) return status;
  rsp = adoption.publish();
  report_listening(ia, conn_qual);
  return kOk;
}

Status ReservedServicePoint::start_listening() {
  if (ep_ != nullptr) {
    if (const Status status = ep_->connection().reserve(); !status.ok()) return status;
  }
  Status status = invalid_handle(StatusDetail::kInvalidHandleEvdCr);
  if (evd_->streams().add()) {
    auto listener = ia().device().listen(conn_qual_, 1, *this);
    SOFTDAT_DEBUG_CHECK(listener_ == nullptr, "a service point listens once");
    if (listener) {
      listener_ = std::move(*listener);
      return kOk;
    }
    evd_->streams().remove();
    status = creation_failure(listener.reason(), StatusDetail::kResourceDevice, StatusDetail::kInvalidArg2);
  }
  // The EP is UNCONNECTED again, as if the call had not been made.
  if (ep_ != nullptr) ep_->connection().release_reservation();
  return status;
}

Status ReservedServicePoint::free(Pin<ReservedServicePoint> rsp) {
  const bool was_open = HandleTable::instance().close(as_object(std::move(rsp)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleRsp);
}

void ReservedServicePoint::detach() {
  SOFTDAT_DEBUG_CHECK(listener_ != nullptr, "a service point listens until it is freed");
  listener_.reset();
  evd_->streams().remove();
  // After a request the CR holds the EP, and gives it back.
  if (ep_ != nullptr && !is_spent_.load()) ep_->connection().release_reservation();
}

ReservedServicePointParameters ReservedServicePoint::query() const {
  return {ia_handle(), conn_qual_, evd_->handle(), ep_ == nullptr ? nullptr : ep_->handle()};
}

// Letting go of the request refuses the peer.
void ReservedServicePoint::on_request(std::unique_ptr<hca::ConnectionRequest> request) {
  // An RSP takes one request (dat_rsp_create(3DAT)). The exchange lets one through.
  if (hca::asks_for_datagrams(*request) || is_spent_.exchange(true)) return;
  std::shared_ptr<Endpoint> ep = ep_ == nullptr ? Endpoint::create_tentative(ia(), *request) : ep_;
  const bool is_ready = ep != nullptr && (ep_ == nullptr || ep_->connection().on_request_arrived(*request));
  if (is_ready && ConnectionRequest::announce(*this, conn_qual_, *evd_, std::move(request), ep)) {
    return;
  }
  // The next one may find room.
  if (ep_ != nullptr) {
    ep_->connection().release_reservation();
    static_cast<void>(ep_->connection().reserve());
  }
  is_spent_.store(false);
}

}  // namespace softdat::object
