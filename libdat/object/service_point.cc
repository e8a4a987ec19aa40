// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/service_point.h"

#include "base/assert.h"
#include "hca/datagram.h"
#include "libdat/object/connection_request.h"
#include "libdat/object/endpoint.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/free_qualifier.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/run_report.h"

namespace softdat::object {
namespace {

Status check_evd(const InterfaceAdapter& ia, const EventDispatcher& evd) {
  const bool is_good = evd.streams().takes(kCrStream) && &evd.ia().device() == &ia.device();
  return is_good ? kOk : invalid_handle(StatusDetail::kInvalidHandleEvdCr);
}

}  // namespace

ServicePoint::ServicePoint(InterfaceAdapter& ia, std::uint64_t conn_qual, EventDispatcher& evd,
                           bool provider_makes_endpoints)
    : Object(kKind, &ia),
      evd_(std::static_pointer_cast<EventDispatcher>(evd.shared_from_this())),
      conn_qual_(conn_qual),
      provider_makes_endpoints_(provider_makes_endpoints) {}

Status ServicePoint::create(InterfaceAdapter& ia, std::uint64_t conn_qual, EventDispatcher& evd,
                            bool provider_makes_endpoints, Handle& psp) {
  if (const Status status = check_evd(ia, evd); !status.ok()) return status;
  const std::shared_ptr<ServicePoint> self(new ServicePoint(ia, conn_qual, evd, provider_makes_endpoints));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (!evd.streams().add()) return invalid_handle(StatusDetail::kInvalidHandleEvdCr);
  auto listener = ia.device().listen(conn_qual, kNoBacklog, *self);
  if (!listener) {
    evd.streams().remove();
    // The Adoption takes the handle back; the EVD has let go above.
    return creation_failure(listener.reason(), StatusDetail::kResourceDevice, StatusDetail::kInvalidArg2);
  }
  self->listener_ = std::move(*listener);
  psp = adoption.publish();
  report_listening(ia, conn_qual);
  return kOk;
}

Status ServicePoint::create_any(InterfaceAdapter& ia, std::uint64_t& conn_qual, EventDispatcher& evd,
                                bool provider_makes_endpoints, Handle& psp) {
  const auto attempt = [&](std::uint16_t candidate) {
    const Status status = create(ia, candidate, evd, provider_makes_endpoints, psp);
    if (status.ok()) {
      conn_qual = candidate;
      ia.counters().add(ia_counter::kPspCreateAny);
    }
    return status;
  };
  const Status status = try_free_qualifiers(attempt, StatusType::kConnQualInUse);
  // All candidates were taken.
  return status.type == StatusType::kConnQualInUse ? conn_qual_unavailable() : status;
}

Status ServicePoint::free(Pin<ServicePoint> psp) {
  const bool was_open = HandleTable::instance().close(as_object(std::move(psp)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandlePsp);
}

// The listener's destructor waits for on_request(), so no request comes afterwards.
void ServicePoint::detach() {
  SOFTDAT_DEBUG_CHECK(listener_ != nullptr, "a service point listens until it is freed");
  listener_.reset();
  evd_->streams().remove();
}

ServicePointParameters ServicePoint::query() const {
  return {ia_handle(), conn_qual_, evd_->handle(), provider_makes_endpoints_};
}

void ServicePoint::on_request(std::unique_ptr<hca::ConnectionRequest> request) {
  std::shared_ptr<Endpoint> ep;
  if (provider_makes_endpoints_) {
    if (hca::asks_for_datagrams(*request)) return;  // the provider's EPs are for connections
    ep = Endpoint::create_tentative(ia(), *request);
    if (ep == nullptr) return;  // which refuses the peer
  }
  SOFTDAT_DEBUG_CHECK(provider_makes_endpoints_ == (ep != nullptr),
                      "a request brings an EP if the provider makes them");
  ConnectionRequest::announce(*this, conn_qual_, *evd_, std::move(request), std::move(ep));
}

}  // namespace softdat::object
