// SPDX-License-Identifier: BSD-2-Clause
// How connections come and go.
#include <algorithm>
#include <new>
#include <utility>

#include "simnic/engine.h"
#include "simnic/lock_places.h"
#include "simnic/private_data.h"
#include "simnic/queue_pair.h"

namespace softdat::simnic {

using hca::ConnectionEventType;
using hca::QueuePairState;
using transport::CloseMode;
using transport::CloseReason;

bool QueuePair::advance(QueuePairEvent event) {
  base::require_lock(locks::kBaton);
  const auto next = next_state(state(), event);
  if (!next) return false;
  state_.store(*next, std::memory_order_seq_cst);
  return true;
}

transport::Offer QueuePair::make_offer(std::span<const std::byte> private_data) {
  transport::Offer offer;
  offer.address = nic_.address;
  offer.features = transport::kNotes | transport::kImmediates | transport::kAtomics | transport::kVoids |
                   transport::kWords | transport::kRidingAcks;
  offer.ird = limits_.ird;
  offer.ord = limits_.ord;
  direct_.describe(offer, responder_.queue().completed());
  offer.private_data.assign(private_data.begin(), private_data.end());
  return offer;
}

void QueuePair::set_remote(const transport::Address& address) {
  *remote_.lock() = address;
}

hca::Outcome QueuePair::connect(const hca::ConnectParameters& parameters) {
  const transport::Address& remote = parameters.remote;
  if (!is_single_host(remote)) return hca::fail(hca::Error::kBadAddress);
  if (parameters.private_data.size() > transport::kMaxPrivateData) return hca::fail(hca::Error::kInvalidArgument);

  const Engine::Hold hold(nic_.engine);
  const Entry entry(*this);
  if (is_retired_ || !next_state(state(), QueuePairEvent::kConnect)) return hca::fail(hca::Error::kInvalidState);
  try {
    news_.promise();
    transport::Offer request = make_offer(parameters.private_data);
    request.service_id = parameters.service_id;
    const base::Time now = nic_.engine.now();
    attempt_ = std::make_unique<ConnectAttempt>(remote, std::move(request), now, nic_.connect_grace,
                                                base::deadline_after(now, parameters.timeout));
    nic_.engine.timers().set(*this, attempt_->deadline());
    channel_ = nic_.engine.carrier().connect(remote, attempt_->request(), *this);
  } catch (const std::bad_alloc&) {
    cancel_timer();
    attempt_.reset();
    news_.release();
    return hca::fail(hca::Error::kNoMemory);
  }
  // The channel says nothing before we have let go of the baton.
  advance(QueuePairEvent::kConnect);
  set_remote(remote);
  service_asked_ = parameters.service_id;
  asked_timeout_ = parameters.timeout;
  failure_.note_answer(false);
  return hca::Done{};
}

hca::Outcome QueuePair::accept_with_baton(transport::InboundRequest& request, std::uint64_t service_id,
                                          std::span<const std::byte> private_data) {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  if (is_retired_ || !next_state(state(), QueuePairEvent::kAccept)) return hca::fail(hca::Error::kInvalidState);
  const transport::Offer& asked = request.offer();
  try {
    news_.promise();
    transport::Offer reply = make_offer(private_data);
    reply.service_id = service_id;
    reply.features &= asked.features;
    // RFC 6581 section 9.1: neither side may promise more than the other can use.
    reply.ird = std::min(limits_.ird, asked.ord);
    reply.ord = std::min(limits_.ord, asked.ird);
    channel_ = request.accept(reply, *this);
  } catch (const std::bad_alloc&) {
    news_.release();
    return hca::fail(hca::Error::kNoMemory);
  }
  advance(QueuePairEvent::kAccept);
  set_remote(asked.address);
  if (!channel_) end(QueuePairEvent::kClose, {}, ConnectionEventType::kAcceptFailed);
  return hca::Done{};
}

// The passive side got the private data with the request. If the active side's consumer cannot be given the data of the
// answer (out of memory), the connection ends.
void QueuePair::on_established(const transport::Offer& peer) {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  const bool is_connector = state() == QueuePairState::kConnecting;
  hca::ConnectionEvent news{ConnectionEventType::kEstablished, {}, std::nullopt, false, channel_->carrier_name()};
  if (is_connector && !keep(peer.private_data, news.private_data)) {
    return end(QueuePairEvent::kRefuse, {}, ConnectionEventType::kNonPeerRejected);
  }
  // A foreign peer of MPA revision 1 does not say how many reads it takes.
  const bool is_unsaid = peer.features == 0 && peer.ird == 0 && peer.ord == 0;
  requester_.begin(channel_->features(), is_unsaid ? limits_.ord : std::min(limits_.ord, peer.ird));
  responder_.begin(takes_notes(), nic_.rnr);
  take_short_sends();
  failure_.begin();
  is_lack_told_ = false;
  cancel_timer();
  attempt_.reset();
  {
    const std::lock_guard lock(send_mutex_);
    direct_.begin(std::static_pointer_cast<direct::Peer>(channel_->peer_resources()), peer, requester_.may_read());
  }
  if (!advance(QueuePairEvent::kEstablish)) return;
  // A foreign peer has no service ids; it is found again where it was found.
  if (is_connector) news.service_id = takes_notes() ? peer.service_id : service_asked_;
  news_.tell(std::move(news));
  obeys_recv_limits();
}

void QueuePair::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  const bool is_busy = reason == transport::Refusal::kBusy;
  failure_.note_answer(is_busy);
  const bool may_serve_later = is_busy || reason == transport::Refusal::kNoListener;
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

// On whichever carrier the service appears: each try asks the carrier anew.
bool QueuePair::asks_again_later() {
  base::require_lock(locks::kBaton);
  const auto next = attempt_->next_try(nic_.engine.now());
  if (!next) return false;
  abandon_channel(CloseMode::kAbrupt);
  counters_.add_connect_retry();
  nic_.engine.timers().set(*this, *next);
  return true;
}

// The timer may ring late.
void QueuePair::ask_again() try {
  base::require_lock(locks::kBaton);
  if (nic_.engine.now() >= attempt_->deadline()) {
    return end(QueuePairEvent::kRefuse, {}, ConnectionEventType::kNonPeerRejected);
  }
  nic_.engine.timers().set(*this, attempt_->deadline());
  channel_ = nic_.engine.carrier().connect(attempt_->remote(), attempt_->request(), *this);
} catch (const std::bad_alloc&) {
  end(QueuePairEvent::kRefuse, {}, ConnectionEventType::kNonPeerRejected);
}

void QueuePair::on_timer() {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  if (is_open()) return on_receive_lacking();
  if (!channel_) return ask_again();
  end(QueuePairEvent::kExpire, {}, ConnectionEventType::kTimedOut);
}

hca::Outcome QueuePair::disconnect(bool graceful) {
  const hca::Outcome outcome = begin_disconnect(graceful);
  if (state() == QueuePairState::kError) direct_.settle();
  return outcome;
}

hca::Outcome QueuePair::begin_disconnect(bool graceful) {
  const Engine::Hold hold(nic_.engine);
  const Entry entry(*this);
  switch (hca::disconnect_step(state(), graceful)) {
    case hca::DisconnectStep::kRefuse:
      return hca::fail(hca::Error::kInvalidState);
    case hca::DisconnectStep::kNothing:
      break;
    case hca::DisconnectStep::kDrain:
      advance(QueuePairEvent::kDrain);
      requester_.stop_at_posted();
      reads_to_answer_ = responder_.reads().taken_in();
      nic_.engine.run_at_end(*this);
      break;
    case hca::DisconnectStep::kCut:
      end(QueuePairEvent::kCut, {}, ConnectionEventType::kDisconnected);
      break;
  }
  return hca::Done{};
}

void QueuePair::on_closed(CloseReason reason, const transport::TerminateCode& code) {
  base::require_lock(locks::kBaton);
  const Entry entry(*this);
  if (state() == QueuePairState::kAccepting) {
    return end(QueuePairEvent::kClose, {}, ConnectionEventType::kAcceptFailed);
  }
  Fault blame = outgoing_.objection().value_or(Fault{});
  const bool is_by_peer = reason == CloseReason::kTerminated;
  failure_.note_close(is_by_peer);
  if (is_by_peer) blame.code = code;
  // Of our own kind the peer has acknowledged everything before what it refuses. A foreign one's
  // refusal can be laid at the door of a read alone: the rest has completed when it was sent.
  const bool is_oldest_to_blame = takes_notes() || (concerns_read(code) && requester_.is_oldest_read());
  if (is_by_peer && is_oldest_to_blame) blame.blamed_send = status_of(code);
  if (reason == CloseReason::kProtocolError) blame.is_protocol_breach = true;
  const auto news = reason == CloseReason::kBye ? ConnectionEventType::kDisconnected : ConnectionEventType::kBroken;
  end(QueuePairEvent::kClose, blame, news);
}

// A post that is being carried out goes on for one piece at most.
void QueuePair::leave_peer() {
  base::require_lock(locks::kBaton);
  direct_.close();
  const std::lock_guard lock(send_mutex_);
  direct_.drop();
}

// The one way into kError. Flushed work is in the completion queues before the event is told.
void QueuePair::end(QueuePairEvent event, const Fault& blame, ConnectionEventType news,
                    std::span<const std::byte> private_data, std::optional<std::uint64_t> culprit) {
  nic_.engine.stay();
  const CloseMode mode = farewell_of(event);
  if (!advance(event)) return;
  cancel_timer();
  attempt_.reset();
  leave_peer();
  if (auto failure = failure_.take_end({event, blame, news, culprit, asked_timeout_})) report(std::move(*failure));
  abandon_channel(mode);
  requester_.sent().flush(blame.blamed_send, culprit);
  responder_.receives().flush(blame.blamed_recv);
  const bool is_refusal = event == QueuePairEvent::kFail && blame.code != kLocalCatastrophe;
  hca::ConnectionEvent last{news, {}, std::nullopt, is_refusal || blame.is_protocol_breach};
  static_cast<void>(keep(private_data, last.private_data));  // a refusal counts for more than what came with it
  news_.tell(std::move(last));
  news_.release();
}

// An end that the consumer forces does not wait for a peer that takes nothing.
CloseMode QueuePair::farewell_of(QueuePairEvent event) {
  if (event != QueuePairEvent::kCut && event != QueuePairEvent::kDrained) return CloseMode::kAbrupt;
  const CloseMode mode = say_farewell();
  return mode == CloseMode::kOrderly && event == QueuePairEvent::kCut ? CloseMode::kPrompt : mode;
}

// Acknowledges what has been carried out, so that the peer's requests complete although we leave.
// An orderly close then carries it; half a message can only be dropped.
CloseMode QueuePair::say_farewell() {
  base::require_lock(locks::kBaton);
  if (!is_open() || !outgoing_.is_nothing()) return CloseMode::kAbrupt;
  const auto count = responder_.acks().unacknowledged();
  if (!count) return CloseMode::kOrderly;
  const transport::Message ack{
      .opcode = transport::Opcode::kNote, .note = transport::NoteKind::kAck, .note_value = *count};
  return channel_->send(ack, nullptr) == transport::SendResult::kDone ? CloseMode::kOrderly : CloseMode::kAbrupt;
}

void QueuePair::abandon_channel(CloseMode mode) {
  base::require_lock(locks::kBaton);
  outgoing_.reset();
  end_short_sends();
  if (!channel_) return;
  channel_->close(mode);
  nic_.engine.bury(std::move(channel_));
}

}  // namespace softdat::simnic
