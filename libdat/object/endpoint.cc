// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint.h"

#include <algorithm>
#include <new>

#include "base/log.h"
#include "base/narrow.h"
#include "base/probe.h"
#include "libdat/object/counter_publisher.h"
#include "libdat/object/event_dispatcher.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/protection_zone.h"
#include "libdat/object/refusal.h"
#include "libdat/object/run_report.h"
#include "libdat/object/shared_receive_queue.h"
#include "libdat/object/socket_address.h"
#include "libdat/object/timeout.h"

namespace softdat::object {
namespace {

constexpr std::int32_t kTransferToError = 0;  // DAT_EP_TRANSFER_TO_ERROR
constexpr std::uint32_t kMultipathWished = 1;
constexpr std::uint32_t kMultipathRequired = 2;

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

Status check_connect(const ConnectRequest& request, const hca::DeviceAttributes& device) {
  if (request.timeout_us == 0) return invalid_parameter(StatusDetail::kInvalidArg4);
  if (request.private_data.size() > device.max_private_data) {
    return invalid_parameter(StatusDetail::kInvalidArg5);
  }
  if ((request.qos & ~kAllQos) != 0) {
    return because(model_not_supported(),
                   [&] { return "qos is " + std::to_string(request.qos) + ", which no DAT_QOS makes"; });
  }
  if ((request.flags & ~(kMultipathWished | kMultipathRequired)) != 0) {
    return invalid_parameter(StatusDetail::kInvalidArg8);
  }
  if ((request.flags & kMultipathRequired) == 0) return kOk;
  return because(model_not_supported(), [] {
    return std::string("connect_flags has DAT_CONNECT_MULTIPATH_REQUIRED_FLAG, and the adapter has one path");
  });
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

std::shared_ptr<Endpoint> Endpoint::create_tentative(InterfaceAdapter& ia, const hca::ConnectionRequest& request) try {
  const EndpointAttributes attributes = matching_attributes(request, ia.device().attributes());
  EndpointConfig config;
  config.attributes = &attributes;
  const std::shared_ptr<Endpoint> self(new Endpoint(ia));
  Adoption adoption(ia, self, Maker::kProvider);
  if (!adoption.status().ok() || !self->settings_.set_up(config).ok()) return nullptr;
  self->bindings_.set_reservation(Reservation::kTentative);
  self->note_peer(request.remote_address(), request.remote_address().port);
  adoption.publish();
  return self;
} catch (const std::bad_alloc&) {
  return nullptr;
}

Status Endpoint::free(Pin<Endpoint> ep) {
  if (!ep->bindings_.allows(EndpointEvent::kFree)) return ep->words_.refuse_state();
  const bool was_open = HandleTable::instance().close(as_object(std::move(ep)));
  return was_open ? kOk : invalid_handle(StatusDetail::kInvalidHandleEp);
}

// Whoever still holds this object (a CR, an RSP) finds a queue pair no more.
void Endpoint::detach() {
  bindings_.end();
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
  return {.ia = ia_handle(),
          .state = now,
          .communicator = communicator_,
          .local_address = &ia().address(),
          .local_port_qual = queue_pair == nullptr ? 0u : queue_pair->local_port(),
          .remote_address = &remote_address_,
          .remote_port_qual = remote_port_qual_,
          .pz = handle_of(config.pz),
          .recv_evd = handle_of(config.recv_evd),
          .request_evd = handle_of(config.request_evd),
          .connect_evd = handle_of(settings_.connect_evd_locked()),
          .srq = handle_of(settings_.srq()),
          .attributes = settings_.attributes_locked()};
}

Status Endpoint::connect(const ConnectRequest& request) {
  const Status status = check_connect(request, ia().device().attributes());
  if (!status.ok()) return status;
  std::lock_guard lock(modify_mutex_);
  return try_connect(request);
}

Status Endpoint::try_connect(const ConnectRequest& request) {
  if (!bindings_.may_exchange() && !bindings_.allows(EndpointEvent::kConnect)) return words_.refuse_state();
  hca::QueuePair* queue_pair = bindings_.queue_pair();
  if (queue_pair == nullptr) return invalid_state(StatusDetail::kInvalidStateEpPz);
  is_active_.store(true);
  const hca::Outcome outcome = queue_pair->connect({.remote = request.remote.with_port(0),
                                                    .service_id = request.conn_qual,
                                                    .private_data = request.private_data,
                                                    .timeout = duration_of(request.timeout_us)});
  if (!outcome) {
    if (outcome.reason() == hca::Error::kInvalidState) return words_.refuse_state();
    const Status status = creation_failure(outcome.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg5);
    if (outcome.reason() != hca::Error::kBadAddress) return status;
    return because(status, [&] {
      return "remote_ia_address is " + base::text_of(request.remote.with_port(0)) +
             ", which is the address of no single host";
    });
  }
  note_peer(request.remote, request.conn_qual, request.communicator);
  counters_.note_change();
  counters_.add(ep_counter::kConnect);
  ia().count(ia_counter::kRequestSent);
  std::lock_guard lock(mutex_);
  origin_ = Origin{request.remote, request.conn_qual, request.flags, request.communicator};
  return kOk;
}

// A model that was connected by its peer's wish leads to nobody: the peer listens nowhere that we know of.
Status Endpoint::connect_like(const Endpoint& model, ConnectRequest request) {
  if (!bindings_.allows(EndpointEvent::kConnect)) return words_.refuse_state();
  const EndpointState now = model.state();
  if (now != EndpointState::kConnected) {
    return because(wrong_state(now), [&] {
      return "dup_ep_handle, " + model.words_.subject() + " is " + object::name_of(now) +
             "; only a connected endpoint can be a model";
    });
  }
  {
    std::lock_guard lock(model.mutex_);
    if (!model.origin_) {
      return because(invalid_state(StatusDetail::kInvalidStateEpNotready), [&] {
        return "dup_ep_handle, " + model.words_.subject() +
               " was connected by its peer's request, so that no service point is known there";
      });
    }
    request.remote = model.origin_->remote;
    request.conn_qual = model.redirect_.value_or(model.origin_->conn_qual);
    request.flags = model.origin_->flags;
    request.communicator = model.origin_->communicator;
  }
  return connect(request);
}

void Endpoint::note_peer(hca::Address address, std::uint64_t port_qual, const Communicator& communicator) {
  std::lock_guard lock(mutex_);
  remote_address_ = socket_address(address.with_port(0));  // an IA has no port
  remote_port_qual_ = port_qual;
  communicator_ = communicator;
}

Status Endpoint::disconnect(bool is_graceful) {
  const auto event = is_graceful ? EndpointEvent::kDisconnectGraceful : EndpointEvent::kDisconnectAbrupt;
  if (!bindings_.allows(event)) return words_.refuse_state();
  const hca::Outcome outcome = bindings_.queue_pair()->disconnect(is_graceful);
  if (outcome) {
    counters_.note_change();
    counters_.add(ep_counter::kDisconnect);
    ia().count(ia_counter::kDisconnectSent);
    return kOk;
  }
  if (outcome.reason() == hca::Error::kInvalidState) return words_.refuse_state();
  return creation_failure(outcome.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg2);
}

Status Endpoint::reset() {
  std::lock_guard modify_lock(modify_mutex_);
  if (!bindings_.allows(EndpointEvent::kReset)) return words_.refuse_state();
  if (state() == EndpointState::kUnconnected) return kOk;
  const hca::Outcome outcome = bindings_.queue_pair()->reset();
  if (!outcome) return words_.refuse_state();
  counters_.note_change();
  std::vector<hca::Bytes> private_data;
  std::lock_guard lock(mutex_);
  private_data_.swap(private_data);
  remote_address_ = {};
  remote_port_qual_ = 0;
  communicator_ = {};
  origin_.reset();
  redirect_.reset();
  return kOk;
}

Status Endpoint::reserve() {
  if (!bindings_.allows(EndpointEvent::kReserve)) return words_.refuse_state();
  if (!bindings_.change_reservation(Reservation::kNone, Reservation::kReserved)) return words_.refuse_state();
  counters_.note_change();
  return kOk;
}

void Endpoint::release_reservation() {
  bindings_.set_reservation(Reservation::kNone);
}

void Endpoint::give_back(Reservation held) {
  if (held == Reservation::kPassive) {
    note_peer({}, 0);
    release_reservation();
  }
  if (held != Reservation::kTentative) return;
  HandleTable& table = HandleTable::instance();
  if (auto pin = table.pin<Endpoint>(handle()); pin.get() == this) table.close(as_object(std::move(pin)));
}

bool Endpoint::on_request_arrived(const hca::ConnectionRequest& request) {
  if (!bindings_.change_reservation(Reservation::kReserved, Reservation::kPassive)) return false;
  note_peer(request.remote_address(), request.remote_address().port);
  counters_.note_change();
  return true;
}

Status Endpoint::accept(hca::ConnectionRequest& request, Reservation held, std::span<const std::byte> private_data,
                        const Communicator& communicator) {
  std::lock_guard lock(modify_mutex_);
  if (bindings_.reservation() != held || (!bindings_.may_exchange() && !bindings_.allows(EndpointEvent::kAccept)))
    return words_.refuse_state();
  hca::QueuePair* queue_pair = bindings_.queue_pair();
  if (queue_pair == nullptr) return invalid_state(StatusDetail::kInvalidStateEpPz);
  if (hca::asks_for_datagrams(request) != bindings_.is_datagram()) {
    return invalid_handle(StatusDetail::kInvalidHandleEp);
  }
  const hca::Address remote = request.remote_address();
  is_active_.store(false);
  const hca::Outcome outcome = request.accept(*queue_pair, private_data);
  if (outcome) {
    note_peer(remote, remote.port, communicator);
    counters_.note_change();
    ia().count(ia_counter::kReplySent);
    release_reservation();
    return kOk;
  }
  if (outcome.reason() == hca::Error::kInvalidState) return words_.refuse_state();
  return creation_failure(outcome.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg3);
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
  counters_.note_change();
  count_ending(connection_result(event.type));
  if (event.carrier != nullptr) tell_carrier(event.carrier);
  const std::shared_ptr<EventDispatcher> evd = settings_.connect_evd();
  ConnectionNotice notice;
  {
    std::lock_guard lock(mutex_);
    if (event.service_id) redirect_ = event.service_id;
    if (evd != nullptr) notice = notice_of_locked(event);
  }
  if (evd != nullptr) evd->post({nullptr, notice});
  report_end(event);
}

void Endpoint::count_ending(ConnectionResult result) {
  if (result == ConnectionResult::kEstablished) {
    SOFTDAT_PROBE(connect, handle());
  } else {
    // gdb does not know the names of all registers of one byte.
    SOFTDAT_PROBE(disconnect, handle(), static_cast<unsigned>(result));
  }
  if (result != ConnectionResult::kEstablished && result != ConnectionResult::kDisconnected) count_broken_connection();
  const bool is_active = is_active_.load();
  switch (result) {
    case ConnectionResult::kEstablished:
      ia().count(is_active ? ia_counter::kReplyReceived : ia_counter::kReadyReceived);
      ia().count(is_active ? ia_counter::kActiveEstablished : ia_counter::kPassiveEstablished);
      if (is_active) ia().count(ia_counter::kReadySent);
      return;
    case ConnectionResult::kPeerRejected:
      return ia().count(ia_counter::kRejectReceived);
    case ConnectionResult::kNonPeerRejected:
      return ia().count(ia_counter::kRefused);
    case ConnectionResult::kDisconnected:
      return ia().count(ia_counter::kDisconnectReceived);
    case ConnectionResult::kTimedOut:
      return ia().count(ia_counter::kTimedOut);
    case ConnectionResult::kAcceptCompletionError:
    case ConnectionResult::kBroken:
    case ConnectionResult::kUnreachable:
      return ia().count(ia_counter::kError);
  }
}

// The endpoint may have lost its queue pair by now, which lives as long as this call of its sink.
void Endpoint::tell_carrier(const char* carrier) try {
  count_connection(carrier);
  if (!base::is_logged(base::LogLevel::kTrace)) return;
  const hca::QueuePair* const queue_pair = bindings_.queue_pair();
  const std::string peer = queue_pair == nullptr ? "" : " with " + base::text_of(queue_pair->remote_address());
  base::log(base::LogLevel::kTrace, "connected over %s%s: %s", carrier, peer.c_str(), words_.name().c_str());
} catch (const std::bad_alloc&) {
}

// The consumer may look at the data until reset(), so each event's has a place of its own.
ConnectionNotice Endpoint::notice_of_locked(const hca::ConnectionEvent& event) {
  base::require_lock(locks::kEndpoint);
  ConnectionNotice notice{handle(), nullptr, 0, connection_result(event.type)};
  if (const hca::Bytes* kept = keep_locked(event.private_data)) {
    notice.private_data = kept->data();
    notice.private_data_size = base::narrow<std::uint32_t>(kept->size());
  }
  return notice;
}

const hca::Bytes* Endpoint::keep_locked(const hca::Bytes& private_data) {
  base::require_lock(locks::kEndpoint);
  if (private_data.empty()) return nullptr;
  try {
    return &private_data_.emplace_back(private_data);
  } catch (const std::bad_alloc&) {
    return nullptr;  // the connection counts for more than what came with it
  }
}

}  // namespace softdat::object
