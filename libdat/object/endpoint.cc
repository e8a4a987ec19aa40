// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint.h"

#include <algorithm>
#include <new>

#include "base/narrow.h"
#include "libdat/object/counter_publisher.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/shared_receive_queue.h"

namespace softdat::object {
namespace {

constexpr std::int32_t kTransferToError = 0;  // DAT_EP_TRANSFER_TO_ERROR

Handle handle_of(const std::shared_ptr<Object>& object) {
  return object == nullptr ? nullptr : object->handle();
}

// As many reads as the peer will ask for, and as it answers; the defaults when it does not say.
EndpointAttributes matching_attributes(const hca::ConnectionRequest& request, const hca::DeviceAttributes& device) {
  EndpointAttributes result = default_attributes(device);
  if (request.ird() == 0 && request.ord() == 0) return result;
  result.max_rdma_read_in = base::narrow<std::int32_t>(std::min(request.ord(), device.max_ird));
  result.max_rdma_read_out = base::narrow<std::int32_t>(std::min(request.ird(), device.max_ord));
  return result;
}

}  // namespace

Endpoint::Endpoint(InterfaceAdapter& ia) : Object(kKind, &ia) {}

Endpoint::~Endpoint() = default;

Status Endpoint::create(InterfaceAdapter& ia, const EndpointConfig& config, Handle& ep) {
  if (const Status status = EndpointSettings::check(config, ia.device().attributes()); !status.ok()) return status;
  const std::shared_ptr<Endpoint> self(new Endpoint(ia));
  Adoption adoption(ia, self);
  if (!adoption.status().ok()) return adoption.status();
  if (const Status status = self->settings_.set_up(config); !status.ok()) return status;
  ep = adoption.publish();
  return kOk;
}

// Has neither PZ nor EVDs: the consumer gives it some by dat_ep_modify(3DAT) before it accepts.
std::shared_ptr<Endpoint> Endpoint::create_tentative(InterfaceAdapter& ia, const hca::ConnectionRequest& request) try {
  const EndpointAttributes attributes = matching_attributes(request, ia.device().attributes());
  EndpointConfig config;
  config.attributes = &attributes;
  const std::shared_ptr<Endpoint> self(new Endpoint(ia));
  Adoption adoption(ia, self, Maker::kProvider);
  if (!adoption.status().ok() || !self->settings_.set_up(config).ok()) return nullptr;
  self->connection_.begin_tentative(request);
  adoption.publish();
  return self;
} catch (const std::bad_alloc&) {
  return nullptr;
}

// A service point or CR that holds the EP must end first (docs/STATES.md, event free).
Status Endpoint::free(Pin<Endpoint> ep) {
  if (!ep->bindings_.allows(EndpointEvent::kFree)) return ep->words_.refuse_state();
  const bool was_open = HandleTable::instance().close(as_object(std::move(ep)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleEp);
}

// A CR or an RSP may still hold this object. It has no queue pair from here on.
void Endpoint::detach() {
  bindings_.end();
  // While the queue pairs still have their counts.
  counters_.report_transfers();
  if (are_counters_shown()) keep_sums(counters_.sums());
  bindings_.destroy_queue_pairs();
  settings_.end();
}

EndpointStatus Endpoint::status() const {
  const hca::QueuePair* queue_pair = bindings_.queue_pair();
  return {.state = reported_state(state()),
          .is_recv_idle = queue_pair == nullptr || queue_pair->recvs_outstanding() == 0,
          .is_request_idle = queue_pair == nullptr || queue_pair->sends_outstanding() == 0};
}

// The device hands a connection's messages over one after the other, so there are no gaps in what
// the EP holds: the span is the count, and one look tells both.
ReceiveUse Endpoint::receive_use() const {
  const hca::QueuePair* queue_pair = bindings_.queue_pair();
  const auto count = queue_pair == nullptr ? 0 : base::narrow<std::int32_t>(queue_pair->recvs_outstanding());
  return {.allocated = count, .span = count};
}

std::optional<Endpoint::Feeds> Endpoint::feeds() const {
  // The sanitizer asks with the lock of its ledger held, so this must not wait.
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return std::nullopt;
  const BindingConfig& config = bindings_.now().config();
  return Feeds{.srq = handle_of(settings_.srq()),
               .recv_evd = handle_of(config.recv_evd),
               .request_evd = handle_of(config.request_evd)};
}

EndpointParameters Endpoint::query() const {
  const EndpointState now = state();
  std::lock_guard lock(mutex_);
  const BindingConfig& config = bindings_.now().config();
  const hca::QueuePair* queue_pair = bindings_.queue_pair();
  const EndpointConnection::Peer& peer = connection_.peer_locked();
  return {.ia = ia_handle(),
          .state = now,
          .communicator = peer.communicator,
          .local_address = &ia().address(),
          .local_port_qual = queue_pair == nullptr ? 0u : queue_pair->local_port(),
          .remote_address = &peer.address,
          .remote_port_qual = peer.port_qual,
          .pz = handle_of(config.pz),
          .recv_evd = handle_of(config.recv_evd),
          .request_evd = handle_of(config.request_evd),
          .connect_evd = handle_of(settings_.connect_evd_locked()),
          .srq = handle_of(settings_.srq()),
          .attributes = settings_.attributes_locked()};
}

// As InfiniBand tells that the last receive of a shared queue has been reached: programs wait for it
// before they free the queue. And an endpoint that its peer has broken by asking for what it may not
// have, which no completion here tells.
void Endpoint::report_end(const hca::ConnectionEvent& event) {
  const bool has_ended =
      event.type == hca::ConnectionEventType::kDisconnected || event.type == hca::ConnectionEventType::kBroken;
  if ((settings_.srq() != nullptr && has_ended) || event.is_peers_fault)
    ia().report({handle(), kTransferToError, AsyncErrorType::kEpBroken});
}

void Endpoint::on_connection_event(const hca::ConnectionEvent& event) {
  // State, counters and cause first: a consumer that has the event must find them there, and may close its IA next.
  connection_.note(event);
  report_end(event);
  if (const auto evd = settings_.connect_evd()) evd->post({nullptr, connection_.notice_of(event)});
}

void Endpoint::on_datagram_event(const hca::DatagramEvent& event) {
  if (const auto evd = settings_.connect_evd()) exchanges_.begin(event, *evd);
}

}  // namespace softdat::object
