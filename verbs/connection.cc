// SPDX-License-Identifier: BSD-2-Clause
// How a connection comes about. How it ends: connection_end.cc.
#include "verbs/connection.h"

#include <cerrno>
#include <new>
#include <utility>

#include "verbs/address.h"
#include "verbs/private_data.h"

namespace softdat::verbs {

using hca::ConnectionEventType;
using hca::QueuePairState;

namespace {

// Reason 28 of a REJ message of InfiniBand's CM: consumer reject.
constexpr int kInfiniBandConsumerReject = 28;

// Never 0, which would mean no port.
std::uint16_t to_port(std::uint32_t number) {
  return static_cast<std::uint16_t>(1 + number % 0xffff);
}

// False: there is no memory for it.
bool keep(const CmEvent& event, bool is_iwarp, hca::Bytes& into) try {
  if (event.has_lost_data) return false;
  into = incoming_private_data(event.private_data, is_iwarp);
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace

Connection::Connection(const DeviceView& device, const hca::QueuePairConfig& config, std::atomic<QueuePairState>& state,
                       WorkQueuePair& work)
    : device_(device),
      sink_(config.sink),
      state_(state),
      work_(work),
      failures_(device.events, *this, config.sink),
      id_(device, config, work.device_pair(), *this),
      withheld_(device.withheld) {}

// The peer hears of the end from the connection manager. The last completions may still ask for a wake-up, so the event
// thread forgets us twice.
Connection::~Connection() {
  is_dying_.store(true, std::memory_order_seq_cst);
  device_.events.forget(*this);
  withheld_.abandon();
  const QueuePairState now = state();
  const bool is_up =
      now == QueuePairState::kConnected || now == QueuePairState::kDisconnecting || now == QueuePairState::kAccepting;
  if (id_.is_open() && is_up) id_.disconnect();
  id_.release();
  work_.device_pair().discard();
  device_.events.forget(*this);
}

hca::Outcome Connection::connect(const hca::ConnectParameters& parameters) {
  if (!is_single_host(parameters.remote)) return hca::fail(hca::Error::kBadAddress);
  if (parameters.private_data.size() > device_.traits.max_private_data) {
    return hca::fail(hca::Error::kInvalidArgument);
  }
  const std::lock_guard lock(mutex_);
  // A queue pair whose receives were inherited by another is retired for good.
  const bool is_ready = !work_.recvs().is_retired() && next_state(state(), QueuePairEvent::kConnect);
  if (!is_ready) return hca::fail(hca::Error::kInvalidState);
  if (const hca::Outcome opened = id_.open(parameters); !opened) return opened;
  // The state is still kIdle, but the event thread needs mutex_ to look at it, and finds kConnecting.
  if (id_.deadline() != base::kNever) device_.events.wake_at(*this, id_.deadline());
  advance_locked(QueuePairEvent::kConnect);
  // A host that cannot be reached is reported as one that does not answer: by an event.
  if (const auto failed = id_.resolve_address()) refuse_locked(*failed);
  return hca::Done{};
}

hca::Outcome Connection::accept(CmEvent& request, std::span<const std::byte> private_data) {
  const std::lock_guard lock(mutex_);
  const bool is_ready = !work_.recvs().is_retired() && next_state(state(), QueuePairEvent::kAccept);
  if (!is_ready) return hca::fail(hca::Error::kInvalidState);
  id_.adopt(request);  // the last call that may lack memory
  advance_locked(QueuePairEvent::kAccept);
  if (!id_.answer(request, private_data)) refuse_locked(ConnectionEventType::kAcceptFailed);
  return hca::Done{};
}

hca::Address Connection::remote_address() const {
  const std::lock_guard lock(mutex_);
  return id_.remote();
}

// Before there is a connection, a number all the same.
std::uint16_t Connection::local_port() const {
  const std::lock_guard lock(mutex_);
  return id_.port() != 0 ? id_.port() : to_port(work_.device_pair().number());
}

bool Connection::advance_locked(QueuePairEvent event) {
  base::require_lock(locks::kVerbsConnection);
  const auto next = next_state(state(), event);
  if (!next) return false;
  state_.store(*next, std::memory_order_seq_cst);
  return true;
}

// No connection came about. The accepting side hears of that as kAcceptFailed, whatever the reason.
void Connection::refuse_locked(ConnectionEventType type) {
  base::require_lock(locks::kVerbsConnection);
  const bool is_accepting = state() == QueuePairState::kAccepting;
  end_locked(QueuePairEvent::kRefuse, is_accepting ? ConnectionEventType::kAcceptFailed : type);
}

// Runs on the event thread. Each branch drops events of an id that was released or replaced (CmId::is).
void Connection::on_cm_event(const CmEvent& event) {
  switch (event.type) {
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_ESTABLISHED:
      return on_established(event);
    case RDMA_CM_EVENT_REJECTED:
      return on_rejected(event);
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return on_disconnected(event);
    default:
      break;
  }
  const std::lock_guard lock(mutex_);
  if (!id_.is(event.id)) return;
  CmId::Failed failed;
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      if (state() == QueuePairState::kConnecting) failed = id_.resolve_route();
      break;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      if (state() == QueuePairState::kConnecting) failed = id_.send_request();
      break;
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
      failed = ConnectionEventType::kUnreachable;
      break;
    case RDMA_CM_EVENT_CONNECT_ERROR:
      failed = ConnectionEventType::kNonPeerRejected;
      break;
    default:
      break;
  }
  if (failed) refuse_locked(*failed);
}

void Connection::on_established(const CmEvent& event) {
  hca::ConnectionEvent established{ConnectionEventType::kEstablished, {}, std::nullopt, false, "verbs"};
  {
    const std::lock_guard lock(mutex_);
    const bool is_connector = state() == QueuePairState::kConnecting;
    if (!id_.is(event.id) || !next_state(state(), QueuePairEvent::kEstablish)) return;
    // The connector's event must bring the peer's private data. Without memory for them no connection comes about.
    const bool is_up = (!is_connector || keep(event, device_.traits.is_iwarp, established.private_data)) &&
                       (event.type != RDMA_CM_EVENT_CONNECT_RESPONSE || id_.confirm(event));
    if (!is_up) return end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kNonPeerRejected);
    id_.on_established();
    if (is_connector) established.service_id = id_.service_id();
    const base::Duration pause = is_connector ? device_.traits.pause_of_initiator : device_.traits.pause_of_responder;
    const bool is_withheld = pause > base::Duration::zero();
    if (is_withheld) {
      withheld_.hold(std::move(established), base::Clock::now() + pause);
      device_.events.wake_at(*this, withheld_.until());
    }
    advance_locked(QueuePairEvent::kEstablish);
    wake();  // for limits that were set before
    if (is_withheld) return;
  }
  if (sink_ != nullptr) sink_->on_connection_event(established);
}

// Whatever ends the connection, the consumer hears of its beginning first.
std::optional<hca::ConnectionEvent> Connection::take_withheld_locked() {
  base::require_lock(locks::kVerbsConnection);
  if (!withheld_.is_held()) return std::nullopt;
  if (state() == QueuePairState::kConnected && !withheld_.is_due(base::Clock::now())) {
    device_.events.wake_at(*this, withheld_.until());
    return std::nullopt;
  }
  wake();  // for all else that there is to do
  return withheld_.take();
}

void Connection::on_rejected(const CmEvent& event) {
  const std::lock_guard lock(mutex_);
  if (!id_.is(event.id)) return;
  const bool is_consumers = device_.traits.is_iwarp
                                ? event.status == -ECONNRESET && !is_refusal_mark(event.private_data)
                                : event.status == kInfiniBandConsumerReject;
  if (!is_consumers || state() == QueuePairState::kAccepting) {
    return refuse_locked(ConnectionEventType::kNonPeerRejected);
  }
  hca::Bytes private_data;
  // Without memory for the data the consumer still hears of the refusal.
  static_cast<void>(keep(event, device_.traits.is_iwarp, private_data));
  end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kPeerRejected, std::move(private_data));
}

}  // namespace softdat::verbs
