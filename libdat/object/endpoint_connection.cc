// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/endpoint_connection.h"

#include <mutex>
#include <new>
#include <string>

#include "base/log.h"
#include "base/narrow.h"
#include "base/probe.h"
#include "libdat/object/handle_table.h"
#include "libdat/object/hca_status.h"
#include "libdat/object/interface_adapter.h"
#include "libdat/object/refusal.h"
#include "libdat/object/run_report.h"
#include "libdat/object/timeout.h"

namespace softdat::object {
namespace {

constexpr std::uint32_t kMultipathWished = 1;
constexpr std::uint32_t kMultipathRequired = 2;

Status check_connect(const ConnectRequest& request, const hca::DeviceAttributes& device) {
  if (request.timeout_us == 0) return invalid_parameter(StatusDetail::kInvalidArg4);
  if (request.private_data.size() > device.max_private_data) {
    return invalid_parameter(StatusDetail::kInvalidArg5);
  }
  if ((request.qos & ~kAllQos) != 0) {
    return because(model_not_supported(),
                   [&] { return "qos is " + std::to_string(request.qos) + ", which is no value of DAT_QOS"; });
  }
  if ((request.flags & ~(kMultipathWished | kMultipathRequired)) != 0) {
    return invalid_parameter(StatusDetail::kInvalidArg8);
  }
  if ((request.flags & kMultipathRequired) == 0) return kOk;
  return because(model_not_supported(), [] {
    return std::string("connect_flags has DAT_CONNECT_MULTIPATH_REQUIRED_FLAG, and the adapter has one path");
  });
}

// An IA has no port.
EndpointConnection::Peer peer_at(const hca::Address& address, std::uint64_t port_qual,
                                 const Communicator& communicator = {}) {
  return {socket_address(address.with_port(0)), port_qual, communicator};
}

}  // namespace

Status EndpointConnection::connect(const ConnectRequest& request) {
  const Status status = check_connect(request, ep_.ia().device().attributes());
  if (!status.ok()) return status;
  // Keeps dat_ep_modify() from replacing the queue pair meanwhile.
  std::lock_guard lock(modify_mutex_);
  return try_connect(request);
}

Status EndpointConnection::try_connect(const ConnectRequest& request) {
  if (!bindings_.may_exchange() && !bindings_.allows(EndpointEvent::kConnect)) return words_.refuse_state();
  hca::QueuePair* queue_pair = bindings_.queue_pair();
  if (queue_pair == nullptr) return invalid_state(StatusDetail::kInvalidStateEpPz);
  // Before the call, because its event may come before it returns.
  is_active_.store(true);
  const hca::Outcome outcome = queue_pair->connect({.remote = request.remote.with_port(0),
                                                    .service_id = request.conn_qual,
                                                    .private_data = request.private_data,
                                                    .timeout = duration_of(request.timeout_us)});
  if (!outcome) {
    // Another thread has changed the state since the look above.
    if (outcome.reason() == hca::Error::kInvalidState) return words_.refuse_state();
    const Status status = creation_failure(outcome.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg5);
    if (outcome.reason() != hca::Error::kBadAddress) return status;
    return because(status, [&] {
      return "remote_ia_address is " + base::text_of(request.remote.with_port(0)) +
             ", which is the address of no single host";
    });
  }
  note_peer(peer_at(request.remote, request.conn_qual, request.communicator));
  counters_.note_change();
  counters_.add(ep_counter::kConnect);
  ep_.ia().counters().add(ia_counter::kRequestSent);
  // For dat_ep_dup_connect(), which goes where this call went.
  std::lock_guard lock(mutex_);
  origin_ = Origin{request.remote, request.conn_qual, request.flags, request.communicator};
  return kOk;
}

// A model that was connected by its peer's wish leads to nobody: the peer listens nowhere that we know of.
Status EndpointConnection::connect_like(const EndpointConnection& model, ConnectRequest request) {
  if (!bindings_.allows(EndpointEvent::kConnect)) return words_.refuse_state();
  const EndpointState now = model.bindings_.state();
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
    // A request that was handed off (dat_cr_handoff) goes at once where it was accepted.
    request.conn_qual = model.redirect_.value_or(model.origin_->conn_qual);
    request.flags = model.origin_->flags;
    request.communicator = model.origin_->communicator;
  }
  return connect(request);
}

void EndpointConnection::note_peer(const Peer& peer) {
  std::lock_guard lock(mutex_);
  peer_ = peer;
}

Status EndpointConnection::disconnect(bool is_graceful) {
  const auto event = is_graceful ? EndpointEvent::kDisconnectGraceful : EndpointEvent::kDisconnectAbrupt;
  // Without a lock: a queue pair that dat_ep_modify() replaces lives as long as this call.
  hca::QueuePair* const queue_pair = bindings_.queue_pair_for(event);
  if (queue_pair == nullptr) return words_.refuse_state();
  const hca::Outcome outcome = queue_pair->disconnect(is_graceful);
  if (outcome) {
    counters_.note_change();
    counters_.add(ep_counter::kDisconnect);
    ep_.ia().counters().add(ia_counter::kDisconnectSent);
    return kOk;
  }
  if (outcome.reason() == hca::Error::kInvalidState) return words_.refuse_state();
  return creation_failure(outcome.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg2);
}

Status EndpointConnection::reset() {
  bindings_.end_replaced(ep_);
  std::lock_guard modify_lock(modify_mutex_);
  if (!bindings_.allows(EndpointEvent::kReset)) return words_.refuse_state();
  if (bindings_.state() == EndpointState::kUnconnected) return kOk;
  const hca::Outcome outcome = bindings_.queue_pair()->reset();
  if (!outcome && outcome.reason() == hca::Error::kInvalidState) return words_.refuse_state();
  if (!outcome) return creation_failure(outcome.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg1);
  counters_.note_change();
  // Declared before the lock, so the data is freed without it.
  std::vector<hca::Bytes> private_data;
  std::lock_guard lock(mutex_);
  private_data_.swap(private_data);
  peer_ = {};
  origin_.reset();
  redirect_.reset();
  return kOk;
}

Status EndpointConnection::reserve() {
  if (!bindings_.allows(EndpointEvent::kReserve)) return words_.refuse_state();
  if (!bindings_.change_reservation(Reservation::kNone, Reservation::kReserved)) return words_.refuse_state();
  counters_.note_change();
  return kOk;
}

void EndpointConnection::release_reservation() {
  bindings_.set_reservation(Reservation::kNone);
}

void EndpointConnection::give_back(Reservation held) {
  if (held == Reservation::kPassive) {
    note_peer({});
    release_reservation();
  }
  // The provider has made the EP for the request, so both end together. An abrupt close may have ended the EP already:
  // then its handle may be another object's.
  if (held != Reservation::kTentative) return;
  HandleTable& table = HandleTable::instance();
  if (auto pin = table.pin_any(ep_.handle()); pin.get() == &ep_) table.close(std::move(pin));
}

bool EndpointConnection::on_request_arrived(const hca::ConnectionRequest& request) {
  if (!bindings_.change_reservation(Reservation::kReserved, Reservation::kPassive)) return false;
  note_peer(peer_at(request.remote_address(), request.remote_address().port));
  counters_.note_change();
  return true;
}

Status EndpointConnection::accept(hca::ConnectionRequest& request, Reservation held,
                                  std::span<const std::byte> private_data, const Communicator& communicator) {
  std::lock_guard lock(modify_mutex_);
  // The reservation says whether the EP still waits for this request.
  if (bindings_.reservation() != held || (!bindings_.may_exchange() && !bindings_.allows(EndpointEvent::kAccept)))
    return words_.refuse_state();
  hca::QueuePair* queue_pair = bindings_.queue_pair();
  if (queue_pair == nullptr) return invalid_state(StatusDetail::kInvalidStateEpPz);
  if (hca::asks_for_datagrams(request) != bindings_.is_datagram()) {
    return invalid_handle(StatusDetail::kInvalidHandleEp);
  }
  const hca::Address remote = request.remote_address();
  // Before the answer goes out, because the event may come at once.
  is_active_.store(false);
  const hca::Outcome outcome = request.accept(*queue_pair, private_data);
  if (outcome) {
    note_peer(peer_at(remote, remote.port, communicator));
    counters_.note_change();
    ep_.ia().counters().add(ia_counter::kReplySent);
    release_reservation();
    return kOk;
  }
  if (outcome.reason() == hca::Error::kInvalidState) return words_.refuse_state();
  return creation_failure(outcome.reason(), StatusDetail::kResourceTep, StatusDetail::kInvalidArg3);
}

void EndpointConnection::count_ending(ConnectionResult result) const {
  if (result == ConnectionResult::kEstablished) {
    SOFTDAT_PROBE(connect, ep_.handle());
  } else {
    // gdb does not know the names of all registers of one byte.
    SOFTDAT_PROBE(disconnect, ep_.handle(), static_cast<unsigned>(result));
  }
  if (result != ConnectionResult::kEstablished && result != ConnectionResult::kDisconnected) count_broken_connection();
  const bool is_active = is_active_.load();
  switch (result) {
    case ConnectionResult::kEstablished:
      ep_.ia().counters().add(is_active ? ia_counter::kReplyReceived : ia_counter::kReadyReceived);
      ep_.ia().counters().add(is_active ? ia_counter::kActiveEstablished : ia_counter::kPassiveEstablished);
      if (is_active) ep_.ia().counters().add(ia_counter::kReadySent);
      return;
    case ConnectionResult::kPeerRejected:
      return ep_.ia().counters().add(ia_counter::kRejectReceived);
    case ConnectionResult::kNonPeerRejected:
      return ep_.ia().counters().add(ia_counter::kRefused);
    case ConnectionResult::kDisconnected:
      return ep_.ia().counters().add(ia_counter::kDisconnectReceived);
    case ConnectionResult::kTimedOut:
      return ep_.ia().counters().add(ia_counter::kTimedOut);
    case ConnectionResult::kAcceptCompletionError:
    case ConnectionResult::kBroken:
    case ConnectionResult::kUnreachable:
      return ep_.ia().counters().add(ia_counter::kError);
  }
}

// The endpoint may have lost its queue pair by now, which lives as long as this call of its sink.
void EndpointConnection::tell_carrier(const char* carrier) const try {
  count_connection(carrier);
  if (!base::is_logged(base::LogLevel::kTrace)) return;
  const hca::QueuePair* const queue_pair = bindings_.queue_pair();
  const std::string peer = queue_pair == nullptr ? "" : " with " + base::text_of(queue_pair->remote_address());
  base::log(base::LogLevel::kTrace, "connected over %s%s: %s", carrier, peer.c_str(), words_.name().c_str());
} catch (const std::bad_alloc&) {
}

void EndpointConnection::begin_tentative(const hca::ConnectionRequest& request) {
  bindings_.set_reservation(Reservation::kTentative);
  note_peer(peer_at(request.remote_address(), request.remote_address().port));
}

// The device's sink thread calls this before it posts the event.
void EndpointConnection::note(const hca::ConnectionEvent& event) {
  counters_.note_change();
  count_ending(connection_result(event.type));
  if (event.carrier != nullptr) tell_carrier(event.carrier);
  if (!event.service_id) return;
  std::lock_guard lock(mutex_);
  redirect_ = event.service_id;
}

// The consumer may look at the data until reset(), so each event's has a place of its own.
ConnectionNotice EndpointConnection::notice_of(const hca::ConnectionEvent& event) {
  ConnectionNotice notice{ep_.handle(), nullptr, 0, connection_result(event.type)};
  std::lock_guard lock(mutex_);
  if (const hca::Bytes* kept = keep_locked(event.private_data)) {
    notice.private_data = kept->data();
    notice.private_data_size = base::narrow<std::uint32_t>(kept->size());
  }
  return notice;
}

const hca::Bytes* EndpointConnection::keep_locked(const hca::Bytes& private_data) {
  base::require_lock(locks::kEndpoint);
  if (private_data.empty()) return nullptr;
  try {
    return &private_data_.emplace_back(private_data);
  } catch (const std::bad_alloc&) {
    return nullptr;  // the connection is kept, without its private data
  }
}

const EndpointConnection::Peer& EndpointConnection::peer_locked() const {
  base::require_lock(locks::kEndpoint);
  return peer_;
}

std::optional<EndpointConnection::Origin> EndpointConnection::origin() const {
  std::lock_guard lock(mutex_);
  return origin_;
}

}  // namespace softdat::object
