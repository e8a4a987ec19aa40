// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/end.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "transport/loop/conversation.h"
#include "transport/loop/loop_carrier.h"

namespace softdat::transport::loop {

End& End::peer() const {
  if (this == &whole_.active()) return whole_.passive();
  return whole_.active();
}

bool End::has_room() const {
  // The receiver's inbox stands for the socket buffers of both sides.
  return peer().inbox_.cost() < network_.options().capacity;
}

void End::note_busy() {
  if (carrier_ != nullptr) carrier_->note_busy(whole_.share(*this));
}

void End::open(const Offer& peer) {
  state_ = EndState::kOpen;
  if (can_wake_sender()) note_busy();
  sink_->on_established(peer);
}

void End::become_closed() {
  base::require_lock(locks::kLoopNetwork);
  base::check(!unanswered_ || *unanswered_ > 0, "a port counts each request until it is answered");
  state_ = EndState::kClosed;
  sink_ = nullptr;
  is_blocked_ = false;
  inbox_.clear();
  if (unanswered_) --*std::exchange(unanswered_, nullptr);
}

SendResult End::send(const Message& message, PayloadSource* payload) {
  base::require_lock(locks::kLoopNetwork);
  base::check(message.opcode != Opcode::kTerminate, "terminate() sends a Terminate, not send()");
  if (state_ == EndState::kConnecting || state_ == EndState::kAccepting) {
    is_blocked_ = true;
    return SendResult::kBlocked;
  }
  if (state_ != EndState::kOpen) return SendResult::kClosed;
  try {
    return send_in_chunks(message, payload);
  } catch (const std::bad_alloc&) {
    // Out of memory within a message: the peer has a part of it, so both ends lose the connection.
    inbox_.end_with(CloseReason::kLost);
    note_busy();
    state_ = EndState::kFailing;
    peer().lose();
    return SendResult::kClosed;
  }
}

// REQUIRES: the lock of the network, as all of this file. A message that blocks half way keeps its place in cutter_ and
// comes again.
SendResult End::send_in_chunks(const Message& message, PayloadSource* payload) {
  const std::uint64_t total = payload_length(message);
  std::size_t budget = network_.options().max_per_send;
  do {
    if (!has_room() || budget == 0) {
      is_blocked_ = true;
      if (can_wake_sender()) note_busy();
      return SendResult::kBlocked;
    }
    const std::size_t room = network_.options().capacity - peer().inbox_.cost();
    const std::size_t length = std::min<std::uint64_t>({total - cutter_.taken(), network_.pick_chunk(), budget, room});
    std::optional<Item> chunk = cutter_.cut(message, payload, length);
    if (!chunk) return cutter_.finish() == 0 ? SendResult::kFault : SendResult::kFaultMidway;
    peer().post(std::move(*chunk));
    budget -= length;
  } while (cutter_.taken() < total);
  cutter_.finish();
  return SendResult::kDone;
}

void End::terminate(const TerminateCode& code) {
  base::require_lock(locks::kLoopNetwork);
  if (state_ != EndState::kOpen && state_ != EndState::kAccepting) return close(CloseMode::kAbrupt);
  Item item{.kind = ItemKind::kTerminate};
  item.message.terminate = code;
  peer().post(std::move(item));
  become_closed();
}

void End::close(CloseMode mode) {
  base::require_lock(locks::kLoopNetwork);
  if (state_ == EndState::kClosed || state_ == EndState::kIdle) return;
  // An abrupt end may drop what the peer has not taken; the bye itself still arrives.
  if (mode == CloseMode::kAbrupt) peer().inbox_.drop_chunks();
  peer().post({.kind = ItemKind::kBye});
  become_closed();
}

void End::lose() {
  base::require_lock(locks::kLoopNetwork);
  if (state_ == EndState::kClosed || state_ == EndState::kFailing) return;
  inbox_.end_with(CloseReason::kLost);
  note_busy();
}

// The process of this end has died: nobody hears anything more of it, and the peer is told by lose().
void End::silence() {
  become_closed();
  carrier_ = nullptr;
}

void End::post(Item item) try {
  base::require_lock(locks::kLoopNetwork);
  // The end was closed, lost or silenced: a real peer would not get this either.
  if (state_ == EndState::kClosed || inbox_.reason() || carrier_ == nullptr) return;
  inbox_.put(std::move(item), network_.pick_due());
  note_busy();
} catch (const std::bad_alloc&) {
  lose();
  peer().lose();
}

}  // namespace softdat::transport::loop
