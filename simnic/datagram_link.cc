// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/datagram_link.h"

#include <new>
#include <utility>

#include "base/narrow.h"
#include "simnic/datagram_switch.h"
#include "simnic/engine.h"
#include "simnic/lock_places.h"
#include "simnic/private_data.h"

namespace softdat::simnic {

using hca::ConnectionEventType;
using transport::Opcode;
using transport::Placement;

DatagramLink::DatagramLink(Engine& engine, DatagramSwitch& datagrams, DatagramLinkSink& sink)
    : engine_(engine), datagrams_(datagrams), number_(datagrams.add(*this)), sink_(&sink) {}

DatagramLink::~DatagramLink() {
  datagrams_.remove_link(number_);
  close();
  engine_.forget(*this);
}

void DatagramLink::connect(std::unique_ptr<ConnectAttempt> attempt) {
  base::require_lock(locks::kBaton);
  remote_ = attempt->remote();
  channel_ = engine_.carrier().connect(remote_, attempt->request(), *this);
  attempt_ = std::move(attempt);
  engine_.timers().set(*this, attempt_->deadline());
}

// The private data is kept, because the consumer is told of it when the link is established.
bool DatagramLink::accept(transport::InboundRequest& request, const transport::Offer& reply) {
  base::require_lock(locks::kBaton);
  is_passive_ = true;
  remote_ = request.offer().address;
  peer_number_ = queue_pair_number(request.offer());
  asked_with_ = request.offer().private_data;
  channel_ = request.accept(reply, *this);
  return channel_ != nullptr;
}

void DatagramLink::send(std::vector<std::byte> datagram) try {
  base::require_lock(locks::kBaton);
  // Datagrams get lost: a peer that takes nothing must not make us keep more.
  if (is_over() || waiting_.size() >= kMostWaiting) return;
  waiting_.push_back(std::move(datagram));
  engine_.run_at_end(*this);
} catch (const std::bad_alloc&) {
  return;
}

void DatagramLink::run_with_baton() {
  base::require_lock(locks::kBaton);
  engine_.stay();
  bool has_sent = false;
  while (channel_ && is_established_ && !is_blocked_ && !waiting_.empty()) {
    const transport::Message message{.opcode = Opcode::kSend,
                                     .length = base::narrow<std::uint32_t>(waiting_.front().size())};
    has_sent = true;
    is_blocked_ = channel_->send(message, this) != transport::SendResult::kDone;
    // A datagram that the channel has in part comes again as the same message.
    if (!is_blocked_) waiting_.pop_front();
  }
  if (has_sent && channel_) channel_->flush();
}

bool DatagramLink::gather(std::uint64_t offset, std::size_t length, transport::SliceList& out) {
  base::require_lock(locks::kBaton);
  return out.add(waiting_.front().data() + offset, length);
}

// Whole datagrams are put together here first: whose they are, and whether there is a receive for
// them, is asked when they are complete. What is longer than any datagram is no datagram.
Placement DatagramLink::place(const transport::Arrival& arrival, transport::SliceList& out) {
  base::require_lock(locks::kBaton);
  const bool is_send = arrival.opcode == Opcode::kSend || arrival.opcode == Opcode::kSendSolicited;
  if (!is_send || arrival.length > arriving_.size() || arrival.message_offset > arriving_.size() - arrival.length) {
    return Placement::kDiscard;
  }
  if (arrival.length > 0) out.add(arriving_.data() + arrival.message_offset, arrival.length);
  return Placement::kPlace;
}

void DatagramLink::on_message(const transport::Message& message) {
  base::require_lock(locks::kBaton);
  // place() has discarded such a message, so arriving_ does not hold it.
  if (message.opcode != Opcode::kSend || message.length > arriving_.size()) return;
  const std::span<const std::byte> bytes = std::span(arriving_).first(message.length);
  if (const auto head = decode_datagram_head(bytes)) datagrams_.route(*head, remote_, bytes.subspan(kDatagramHeadSize));
}

void DatagramLink::on_writable() {
  base::require_lock(locks::kBaton);
  is_blocked_ = false;
  engine_.run_at_end(*this);
}

void DatagramLink::on_established(const transport::Offer& peer) {
  base::require_lock(locks::kBaton);
  // The peer accepted with a queue pair of another kind.
  if ((channel_->features() & transport::kDatagrams) == 0) {
    close();
    return conclude(ConnectionEventType::kNonPeerRejected);
  }
  is_established_ = true;
  attempt_.reset();
  if (!is_passive_) peer_number_ = queue_pair_number(peer);
  engine_.run_at_end(*this);
  // Both sides are told what came with the other's word: one adapter may have many exchanges under way.
  conclude(ConnectionEventType::kEstablished, is_passive_ ? asked_with_ : peer.private_data);
}

void DatagramLink::on_refused(transport::Refusal reason, std::span<const std::byte> private_data) {
  base::require_lock(locks::kBaton);
  const bool may_serve_later = reason == transport::Refusal::kNoListener || reason == transport::Refusal::kBusy;
  if (may_serve_later && asks_again_later()) return;
  const transport::Refusal last = attempt_->last_word(reason);
  hca::Bytes kept;
  static_cast<void>(keep(private_data, kept));  // out of memory, without it
  close();
  switch (last) {
    case transport::Refusal::kByConsumer:
      return conclude(ConnectionEventType::kPeerRejected, kept);
    case transport::Refusal::kNoListener:
    case transport::Refusal::kBusy:
    case transport::Refusal::kProtocol:
      return conclude(ConnectionEventType::kNonPeerRejected);
    case transport::Refusal::kUnreachable:
      return conclude(ConnectionEventType::kUnreachable);
  }
}

// A link that ends later ends without a word: datagrams get lost.
void DatagramLink::on_closed(transport::CloseReason, const transport::TerminateCode&) {
  base::require_lock(locks::kBaton);
  close();
  conclude(is_passive_ ? ConnectionEventType::kAcceptFailed : ConnectionEventType::kUnreachable);
}

// As ConnectionLifecycle::asks_again_later(): within the grace the peer's program may begin to listen.
bool DatagramLink::asks_again_later() {
  base::require_lock(locks::kBaton);
  const auto next = attempt_->next_try(engine_.now());
  if (!next) return false;
  drop_channel();
  engine_.timers().set(*this, *next);
  return true;
}

// Each try asks the carrier anew, with the deadline of the whole attempt.
void DatagramLink::ask_again() try {
  base::require_lock(locks::kBaton);
  if (engine_.now() >= attempt_->deadline()) {
    close();
    return conclude(ConnectionEventType::kNonPeerRejected);
  }
  engine_.timers().set(*this, attempt_->deadline());
  channel_ = engine_.carrier().connect(remote_, attempt_->request(), *this);
} catch (const std::bad_alloc&) {
  close();
  conclude(ConnectionEventType::kNonPeerRejected);
}

void DatagramLink::on_timer() {
  base::require_lock(locks::kBaton);
  if (!channel_) return ask_again();
  close();
  conclude(ConnectionEventType::kTimedOut);
}

void DatagramLink::conclude(ConnectionEventType type, std::span<const std::byte> private_data) {
  base::require_lock(locks::kBaton);
  cancel_timer();
  if (std::exchange(is_concluded_, true) || sink_ == nullptr) return;
  // False: the exchange has failed, or there was no memory for the peer's address handle, so nobody can use the link.
  if (!sink_->on_exchanged(*this, type, private_data)) close();
}

void DatagramLink::close() {
  base::require_lock(locks::kBaton);
  cancel_timer();
  attempt_.reset();
  is_established_ = false;
  drop_channel();
}

void DatagramLink::drop_channel() {
  base::require_lock(locks::kBaton);
  if (!channel_) return;
  // A datagram that is half in the channel cannot be finished: its bytes die with this link.
  const bool is_clean = !is_blocked_ && waiting_.empty();
  waiting_.clear();
  channel_->close(is_clean ? transport::CloseMode::kPrompt : transport::CloseMode::kAbrupt);
  // A call of the channel may be on the stack; it is destroyed at the end of the section.
  engine_.bury(std::move(channel_));
}

}  // namespace softdat::simnic
