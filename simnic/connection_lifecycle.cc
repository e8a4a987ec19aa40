// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/connection_lifecycle.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "simnic/engine.h"
#include "simnic/private_data.h"

namespace softdat::simnic {

using hca::ConnectionEventType;
using hca::QueuePairState;
using transport::CloseMode;
using transport::CloseReason;

ConnectionLifecycle::ConnectionLifecycle(const QueuePairView& queue_pair, const hca::QueuePairConfig& config)
    : queue_pair_(queue_pair),
      engine_(queue_pair.nic.engine),
      path_(engine_, queue_pair.memory, config, queue_pair.limits, queue_pair.state, queue_pair.recvs,
            queue_pair.counters, *this),
      failure_(queue_pair.memory, path_, config.sink),
      upcalls_(engine_.upcalls(), config.sink, queue_pair.sends.direct()) {}

bool ConnectionLifecycle::advance(QueuePairEvent event) {
  base::require_lock(locks::kBaton);
  const auto next = next_state(state(), event);
  if (!next) return false;
  queue_pair_.state.store(*next, std::memory_order_seq_cst);
  return true;
}

transport::Offer ConnectionLifecycle::make_offer(std::span<const std::byte> private_data) {
  transport::Offer offer;
  offer.address = queue_pair_.nic.address;
  // The features of this build. The connection has what both offers have; a foreign TCP peer sends none of these bits.
  offer.features = transport::kNotes | transport::kImmediates | transport::kAtomics | transport::kVoids |
                   transport::kWords | transport::kRidingAcks;
  offer.ird = queue_pair_.limits.ird;
  offer.ord = queue_pair_.limits.ord;
  queue_pair_.sends.direct().describe(offer, path_.responder().queue().completed());
  offer.private_data.assign(private_data.begin(), private_data.end());
  return offer;
}

// In the consumer's thread. Its sink hears the outcome from the engine.
hca::Outcome ConnectionLifecycle::connect(const hca::ConnectParameters& parameters) {
  const transport::Address& remote = parameters.remote;
  if (!is_single_host(remote)) return hca::fail(hca::Error::kBadAddress);
  if (parameters.private_data.size() > transport::kMaxPrivateData) return hca::fail(hca::Error::kInvalidArgument);

  const Engine::Hold hold(engine_);
  const MessagePath::Entry entry(path_);
  const bool may_connect = !queue_pair_.recvs.is_retired() && next_state(state(), QueuePairEvent::kConnect);
  if (!may_connect) return hca::fail(hca::Error::kInvalidState);
  try {
    // The upcalls get their memory here, where the caller can be told that there is none. They never allocate later.
    upcalls_.reserve();
    transport::Offer request = make_offer(parameters.private_data);
    request.service_id = parameters.service_id;
    const base::Time now = engine_.now();
    attempt_ = std::make_unique<ConnectAttempt>(remote, std::move(request), now, queue_pair_.nic.connect_grace,
                                                base::deadline_after(now, parameters.timeout));
    ask();
  } catch (const std::bad_alloc&) {
    cancel_timer();
    attempt_.reset();
    upcalls_.release();
    return hca::fail(hca::Error::kNoMemory);
  }
  // The channel says nothing before we have let go of the baton.
  advance(QueuePairEvent::kConnect);
  *remote_.lock() = remote;
  failure_.note_peer(remote, parameters.service_id, parameters.timeout);
  return hca::Done{};
}

// On whichever carrier the service appears: each try asks the carrier anew. Throws std::bad_alloc.
void ConnectionLifecycle::ask() {
  engine_.timers().set(*this, attempt_->deadline());
  path_.adopt(engine_.carrier().connect(attempt_->remote(), attempt_->request(), *this));
}

hca::Outcome ConnectionLifecycle::accept_with_baton(transport::InboundRequest& request, std::uint64_t service_id,
                                                    std::span<const std::byte> private_data) {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  const bool may_accept = !queue_pair_.recvs.is_retired() && next_state(state(), QueuePairEvent::kAccept);
  if (!may_accept) return hca::fail(hca::Error::kInvalidState);
  const transport::Offer& asked = request.offer();
  try {
    upcalls_.reserve();
    transport::Offer reply = make_offer(private_data);
    reply.service_id = service_id;
    reply.features &= asked.features;
    // RFC 6581 section 9.1: neither side may promise more than the other can use.
    reply.ird = std::min(queue_pair_.limits.ird, asked.ord);
    reply.ord = std::min(queue_pair_.limits.ord, asked.ird);
    path_.adopt(request.accept(reply, *this));
  } catch (const std::bad_alloc&) {
    upcalls_.release();
    return hca::fail(hca::Error::kNoMemory);
  }
  advance(QueuePairEvent::kAccept);
  *remote_.lock() = asked.address;
  failure_.note_peer(asked.address);
  // The peer has gone between its request and this answer.
  if (path_.channel() == nullptr) end(QueuePairEvent::kClose, {}, ConnectionEventType::kAcceptFailed);
  return hca::Done{};
}

// The passive side got the private data with the request. If the active side's consumer cannot be given the data of the
// answer (out of memory), the connection ends.
void ConnectionLifecycle::on_established(const transport::Offer& peer) {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  const bool is_connector = state() == QueuePairState::kConnecting;
  transport::Channel& channel = *path_.channel();
  hca::ConnectionEvent news{ConnectionEventType::kEstablished, {}, std::nullopt, false, channel.carrier_name()};
  if (is_connector && !keep(peer.private_data, news.private_data)) {
    return end(QueuePairEvent::kRefuse, {}, ConnectionEventType::kNonPeerRejected);
  }
  // A foreign peer has no service ids; it is found again where it was found.
  if (is_connector) news.service_id = path_.takes_notes() ? peer.service_id : attempt_->request().service_id;
  // A foreign peer of MPA revision 1 does not say how many reads it takes.
  const bool is_unsaid = peer.features == 0 && peer.ird == 0 && peer.ord == 0;
  const std::uint32_t ord = queue_pair_.limits.ord;
  // RFC 6581: no more reads outstanding than the peer answers.
  path_.begin(is_unsaid ? ord : std::min(ord, peer.ird), queue_pair_.nic.rnr);
  failure_.begin();
  cancel_timer();
  attempt_.reset();
  // Before the state becomes kConnected: the first post may go directly.
  queue_pair_.sends.begin_direct(std::static_pointer_cast<direct::Peer>(channel.peer_resources()), peer,
                                 path_.requester().may_read());
  if (!advance(QueuePairEvent::kEstablish)) return;
  upcalls_.post(std::move(news));
  // Receives may have been posted, and limits set, before there was a connection.
  if (queue_pair_.recvs.limits().is_set()) engine_.run_at_end(*this);
}

void ConnectionLifecycle::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  const bool is_busy = reason == transport::Refusal::kBusy;
  failure_.note_answer(is_busy);
  const bool may_serve_later = is_busy || reason == transport::Refusal::kNoListener;
  // Grace: the peer's program may be about to listen (docs/decisions/0012-connect-grace.md).
  if (may_serve_later && asks_again_later()) return;
  switch (attempt_->last_word(reason)) {
    case transport::Refusal::kByConsumer:
      return end(QueuePairEvent::kRefuse, {}, ConnectionEventType::kPeerRejected, private_data);
    case transport::Refusal::kNoListener:
    case transport::Refusal::kBusy:
    case transport::Refusal::kProtocol:
      return end(QueuePairEvent::kRefuse, {}, ConnectionEventType::kNonPeerRejected);
    case transport::Refusal::kUnreachable:
      return end(QueuePairEvent::kRefuse, {}, ConnectionEventType::kUnreachable);
  }
}

// False: the grace is over. The refused channel is closed first, because each try makes a new one.
bool ConnectionLifecycle::asks_again_later() {
  base::require_lock(locks::kBaton);
  const auto next = attempt_->next_try(engine_.now());
  if (!next) return false;
  path_.close(CloseMode::kAbrupt);
  queue_pair_.counters.add_connect_retry();
  engine_.timers().set(*this, *next);
  return true;
}

// The timer serves connecting, and then the watch for receives. It may ring late.
void ConnectionLifecycle::on_timer() {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  if (path_.is_open()) return failure_.tell_lack(queue_pair_.recvs.shared() != nullptr);
  // A channel that is not open yet: the peer has not answered within the consumer's timeout.
  if (path_.channel() != nullptr) return end(QueuePairEvent::kExpire, {}, ConnectionEventType::kTimedOut);
  try {
    if (engine_.now() < attempt_->deadline()) return ask();
  } catch (const std::bad_alloc&) {
    // The attempt ends.
  }
  end(QueuePairEvent::kRefuse, {}, ConnectionEventType::kNonPeerRejected);
}

hca::Outcome ConnectionLifecycle::disconnect(bool graceful) {
  const Engine::Hold hold(engine_);
  const MessagePath::Entry entry(path_);
  switch (hca::disconnect_step(state(), graceful)) {
    case hca::DisconnectStep::kRefuse:
      return hca::fail(hca::Error::kInvalidState);
    case hca::DisconnectStep::kNothing:
      break;
    case hca::DisconnectStep::kDrain:
      advance(QueuePairEvent::kDrain);
      // DAT's graceful disconnect: requests posted so far complete, and the peer's reads that have come are answered.
      // is_drained() tells when.
      path_.requester().stop_at_posted();
      reads_to_answer_ = path_.responder().reads().taken_in();
      engine_.run_at_end(*this);
      break;
    case hca::DisconnectStep::kCut:
      end(QueuePairEvent::kCut, {}, ConnectionEventType::kDisconnected);
      break;
  }
  return hca::Done{};
}

bool ConnectionLifecycle::is_drained() const {
  return state() == QueuePairState::kDisconnecting && path_.requester().is_drained() &&
         path_.responder().reads().answered() >= reads_to_answer_;
}

hca::Outcome ConnectionLifecycle::reset() {
  const Engine::Hold hold(engine_);
  const bool may_reset = !queue_pair_.recvs.is_retired() && next_state(state(), QueuePairEvent::kReset);
  if (!may_reset) return hca::fail(hca::Error::kInvalidState);
  const MessagePath::Entry entry(path_);
  // With both posting locks held no post is under way.
  const std::scoped_lock lock(queue_pair_.sends.mutex(), queue_pair_.recvs.mutex());
  path_.flush();
  advance(QueuePairEvent::kReset);
  failure_.begin();
  return hca::Done{};
}

void ConnectionLifecycle::on_closed(CloseReason reason, const transport::TerminateCode& code) {
  base::require_lock(locks::kBaton);
  const MessagePath::Entry entry(path_);
  if (state() == QueuePairState::kAccepting) {
    return end(QueuePairEvent::kClose, {}, ConnectionEventType::kAcceptFailed);
  }
  Fault blame = path_.outgoing().objection().value_or(Fault{});
  const bool is_by_peer = reason == CloseReason::kTerminated;
  failure_.note_close(is_by_peer);
  if (is_by_peer) blame.code = code;
  // A peer of our own kind has acknowledged everything before what it refuses. To a foreign one's refusal only a read
  // can have led: sends and writes completed when they were sent.
  const bool is_oldest_to_blame = path_.takes_notes() || (concerns_read(code) && path_.requester().is_oldest_read());
  if (is_by_peer && is_oldest_to_blame) blame.blamed_send = status_of(code);
  if (reason == CloseReason::kProtocolError) blame.is_protocol_breach = true;
  const auto news = reason == CloseReason::kBye ? ConnectionEventType::kDisconnected : ConnectionEventType::kBroken;
  end(QueuePairEvent::kClose, blame, news);
}

void ConnectionLifecycle::end(QueuePairEvent event, const Fault& blame, ConnectionEventType news,
                              std::span<const std::byte> private_data, std::optional<std::uint64_t> culprit) {
  // Closing a channel may reach a cancellation point; a thread must not end with the baton held.
  engine_.stay();
  const CloseMode mode = close_mode_of(event);
  if (!advance(event)) return;
  cancel_timer();
  attempt_.reset();
  // Before the completions are flushed: no poster may still write into the peer's memory when the consumer hears of the
  // end.
  queue_pair_.sends.end_direct();
  failure_.tell_end({event, blame, news, culprit});
  path_.close(mode);
  // After the state, and after sate(), which awaits the posts that have not seen it: those that come later are refused,
  // or flushed by the engine, so none is forgotten.
  path_.responder().receives().sate();
  path_.flush(blame, culprit);
  const bool is_refusal = event == QueuePairEvent::kFail && blame.code != kLocalCatastrophe;
  hca::ConnectionEvent last{news, {}, std::nullopt, is_refusal || blame.is_protocol_breach};
  static_cast<void>(keep(private_data, last.private_data));  // out of memory, without it
  upcalls_.post(std::move(last));
  upcalls_.release();
}

// An end that the consumer forces does not wait for a peer that takes nothing.
CloseMode ConnectionLifecycle::close_mode_of(QueuePairEvent event) {
  if (event != QueuePairEvent::kCut && event != QueuePairEvent::kDrained) return CloseMode::kAbrupt;
  const CloseMode mode = path_.send_last_ack();
  return mode == CloseMode::kOrderly && event == QueuePairEvent::kCut ? CloseMode::kPrompt : mode;
}

// For a queue pair that is destroyed: as a cut, but nobody is told.
void ConnectionLifecycle::abandon() {
  base::require_lock(locks::kBaton);
  cancel_timer();
  queue_pair_.sends.end_direct();
  path_.close(close_mode_of(QueuePairEvent::kCut));
}

}  // namespace softdat::simnic
