// SPDX-License-Identifier: BSD-2-Clause
// How connections come about once they have been asked for (queue_pair_request.cc), or are answered. Every event of the
// connection manager arrives on the event thread.
#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "verbs/address.h"
#include "verbs/completion_queue.h"
#include "verbs/private_data.h"
#include "verbs/queue_pair.h"
#include "verbs/shared_receive_queue.h"

namespace softdat::verbs {

using hca::ConnectionEventType;
using hca::QueuePairState;

namespace {

constexpr std::uint8_t kRetriesForEver = 7;  // of a peer that has no receive posted
constexpr int kInfiniBandConsumerReject = 28;
// Set by the kernel for Ethernet, and not for us to modify.
constexpr int kEthernetBits = 0xe0'0000;

std::uint8_t to_count(std::uint32_t reads) {
  return static_cast<std::uint8_t>(std::min<std::uint32_t>(reads, 255));
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

bool QueuePair::advance_locked(QueuePairEvent event) {
  base::require_lock(locks::kVerbsQueuePair);
  const auto next = next_state(state(), event);
  if (!next) return false;
  state_.store(*next, std::memory_order_seq_cst);
  return true;
}

// The connection manager knows what a state needs: addresses, numbers, times.
bool QueuePair::move_to(ibv_qp_state state, std::uint32_t ird, std::uint32_t ord) {
  ibv_qp_attr attributes{};
  attributes.qp_state = state;
  int mask = 0;
  if (library().init_qp_attr(id_, &attributes, &mask) != 0) return false;
  mask &= ~kEthernetBits;
  if (state == IBV_QPS_INIT) {
    attributes.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (device_.traits.has_atomics) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  }
  if (state == IBV_QPS_RTR) attributes.max_dest_rd_atomic = to_count(ird);
  // With none allowed a read would wait for ever; so it goes out, and the peer that takes none refuses it.
  if (state == IBV_QPS_RTS) attributes.max_rd_atomic = to_count(std::max(ord, std::min(limits_.ord, 1u)));
  return qp_ != nullptr && library().modify_qp(qp_, &attributes, mask) == 0;
}

// What either side says of itself. Refers to the data.
rdma_conn_param QueuePair::conn_param(const OutgoingPrivateData& data, std::uint32_t ird, std::uint32_t ord) const {
  rdma_conn_param result{};
  result.private_data = data.data();
  result.private_data_len = data.size();
  result.responder_resources = to_count(ird);
  result.initiator_depth = to_count(ord);
  result.rnr_retry_count = kRetriesForEver;
  result.srq = shared_ == nullptr ? 0 : 1;
  result.qp_num = number_.load(std::memory_order_relaxed);
  return result;
}

hca::Outcome QueuePair::accept(CmEvent& request, std::span<const std::byte> private_data) {
  const std::lock_guard lock(mutex_);
  if (is_retired() || !next_state(state(), QueuePairEvent::kAccept)) return hca::fail(hca::Error::kInvalidState);
  device_.events.add(key_of(request.id), *this);  // the last thing for which memory may be lacking
  id_ = std::exchange(request.id, nullptr);
  remote_ = address_of(*rdma_get_peer_addr(id_));
  advance_locked(QueuePairEvent::kAccept);
  note_port_locked();
  if (!accept_locked(request, private_data)) end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kAcceptFailed);
  return hca::Done{};
}

// RFC 6581 section 9.1, and InfiniBand alike: neither side may promise more than the other can use. A peer of MPA
// revision 1 cannot speak of reads, and is taken to answer one at a time; one that has said 0 gets no more by it.
bool QueuePair::accept_locked(const CmEvent& request, std::span<const std::byte> private_data) {
  base::require_lock(locks::kVerbsQueuePair);
  const bool is_silent = device_.traits.is_iwarp && request.ird == 0 && request.ord == 0;
  const std::uint32_t ird = std::min(limits_.ird, is_silent ? limits_.ird : request.ord);
  const std::uint32_t ord = std::min(limits_.ord, is_silent ? 1 : request.ird);
  const OutgoingPrivateData data(private_data, device_.traits.is_iwarp);
  rdma_conn_param answer = conn_param(data, ird, ord);
  if (!move_to(IBV_QPS_INIT, 0, 0)) return false;
  const bool is_ready = device_.traits.is_iwarp || (move_to(IBV_QPS_RTR, ird, 0) && move_to(IBV_QPS_RTS, 0, ord));
  return is_ready && library().accept(id_, &answer) == 0;
}

void QueuePair::note_port_locked() {
  base::require_lock(locks::kVerbsQueuePair);
  port_ = port_of(*rdma_get_local_addr(id_));
}

void QueuePair::on_cm_event(const CmEvent& event) {
  const auto refuse = [&](ConnectionEventType news) {
    const std::lock_guard lock(mutex_);
    const bool is_accepting = state() == QueuePairState::kAccepting;
    if (id_ == event.id) end_locked(QueuePairEvent::kRefuse, is_accepting ? ConnectionEventType::kAcceptFailed : news);
  };
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: {
      const std::lock_guard lock(mutex_);
      if (id_ == event.id && state() == QueuePairState::kConnecting) resolve_route_locked();
      return;
    }
    case RDMA_CM_EVENT_ROUTE_RESOLVED: {
      const std::lock_guard lock(mutex_);
      if (id_ == event.id && state() == QueuePairState::kConnecting) send_request_locked();
      return;
    }
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
    case RDMA_CM_EVENT_ESTABLISHED:
      return on_established(event);
    case RDMA_CM_EVENT_REJECTED:
      return on_rejected(event);
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
      return refuse(ConnectionEventType::kUnreachable);
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return refuse(ConnectionEventType::kNonPeerRejected);
    case RDMA_CM_EVENT_DISCONNECTED:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return on_disconnected(event);
    default:
      return;
  }
}

// On InfiniBand a disconnect of the peer's leaves the device's queue pair as it is; one that is in
// error by then has refused a request of the peer's, and not every device tells so by an event.
bool QueuePair::has_refused_peer() const {
  if (device_.traits.is_iwarp || qp_ == nullptr) return false;
  ibv_qp_attr attributes{};
  ibv_qp_init_attr made{};
  return library().query_qp(qp_, &attributes, IBV_QP_STATE, &made) == 0 && attributes.qp_state == IBV_QPS_ERR;
}

// A request of ours that the peer refused has broken the connection on both sides, and the peer's
// farewell may be here before anybody has looked at that request.
void QueuePair::on_disconnected(const CmEvent& event) {
  send_queue_.drain();
  recv_queue_.drain();
  const std::lock_guard lock(mutex_);
  if (id_ != event.id) return;
  const bool was_up = state() == QueuePairState::kConnected || state() == QueuePairState::kDisconnecting;
  if (was_up && !has_failed_.load(std::memory_order_seq_cst) && has_refused_peer()) {
    was_peers_fault_.store(true, std::memory_order_seq_cst);
    has_failed_.store(true, std::memory_order_seq_cst);
  }
  const bool is_bye = event.type == RDMA_CM_EVENT_DISCONNECTED && !has_failed_.load(std::memory_order_seq_cst);
  if (was_up) {
    return end_locked(QueuePairEvent::kEnd, is_bye ? ConnectionEventType::kDisconnected : ConnectionEventType::kBroken,
                      {}, was_peers_fault_.load(std::memory_order_seq_cst));
  }
  const bool is_accepting = state() == QueuePairState::kAccepting;
  return end_locked(QueuePairEvent::kRefuse,
                    is_accepting ? ConnectionEventType::kAcceptFailed : ConnectionEventType::kNonPeerRejected);
}

void QueuePair::on_established(const CmEvent& event) {
  hca::ConnectionEvent news{ConnectionEventType::kEstablished, {}, std::nullopt, false, "verbs"};
  {
    const std::lock_guard lock(mutex_);
    const bool is_connector = state() == QueuePairState::kConnecting;
    if (id_ != event.id || !next_state(state(), QueuePairEvent::kEstablish)) return;
    if (is_connector && !keep(event, device_.traits.is_iwarp, news.private_data)) {
      return end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kNonPeerRejected);
    }
    if (event.type == RDMA_CM_EVENT_CONNECT_RESPONSE) {
      const std::uint32_t ird = std::min(limits_.ird, event.ord);
      const std::uint32_t ord = std::min(limits_.ord, event.ird);
      const bool is_up = move_to(IBV_QPS_RTR, ird, 0) && move_to(IBV_QPS_RTS, 0, ord) && library().establish(id_) == 0;
      if (!is_up) return end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kNonPeerRejected);
    }
    note_port_locked();
    deadline_ = base::kNever;
    if (is_connector) news.service_id = service_asked_;
    const base::Duration pause = is_connector ? device_.traits.pause_of_initiator : device_.traits.pause_of_responder;
    const bool is_held = pause > base::Duration::zero();
    // Whoever sees it connected finds it among those that are held.
    if (is_held) hold_locked(std::move(news), base::Clock::now() + pause);
    advance_locked(QueuePairEvent::kEstablish);
    device_.events.post(*this);  // for limits that were set before
    if (is_held) return;
  }
  if (sink_ != nullptr) sink_->on_connection_event(news);
}

// What the peer sends meanwhile is received, and ends it.
void QueuePair::hold_locked(hca::ConnectionEvent news, base::Time until) {
  base::require_lock(locks::kVerbsQueuePair);
  held_ = Held{std::move(news), until};
  device_.withheld.remove(beginning_);  // of a life before, which nobody has heard of
  device_.withheld.add(beginning_);
  is_holding_.store(true, std::memory_order_seq_cst);
  device_.events.wake_at(*this, until);
}

void QueuePair::note_first_word() {
  has_heard_.store(true, std::memory_order_seq_cst);
  if (is_holding_.load(std::memory_order_seq_cst)) device_.events.post(*this);
}

// Nothing, where nothing is held, or it is too early. Whatever ends the connection, the consumer has heard of it first.
std::optional<hca::ConnectionEvent> QueuePair::take_held() {
  const std::lock_guard lock(mutex_);
  if (!held_) return std::nullopt;
  const bool is_early = state() == QueuePairState::kConnected && !has_heard_.load(std::memory_order_seq_cst) &&
                        base::Clock::now() < held_->until;
  if (is_early) {
    device_.events.wake_at(*this, held_->until);
    return std::nullopt;
  }
  std::optional<hca::ConnectionEvent> news(std::move(held_->news));
  held_.reset();
  device_.withheld.remove(beginning_);
  is_holding_.store(false, std::memory_order_seq_cst);
  device_.events.post(*this);  // for whatever else there is to do
  return news;
}

void QueuePair::on_rejected(const CmEvent& event) {
  const std::lock_guard lock(mutex_);
  if (id_ != event.id) return;
  if (state() == QueuePairState::kAccepting) {
    return end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kAcceptFailed);
  }
  const bool is_consumers = device_.traits.is_iwarp
                                ? event.status == -ECONNRESET && !is_refusal_mark(event.private_data)
                                : event.status == kInfiniBandConsumerReject;
  if (!is_consumers) return end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kNonPeerRejected);
  hca::Bytes private_data;
  // A refusal counts for more than what came with it.
  static_cast<void>(keep(event, device_.traits.is_iwarp, private_data));
  end_locked(QueuePairEvent::kRefuse, ConnectionEventType::kPeerRejected, std::move(private_data));
}

}  // namespace softdat::verbs
