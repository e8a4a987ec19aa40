// SPDX-License-Identifier: BSD-2-Clause
#include "transport/loop/end.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/assert.h"
#include "base/ordered_copy.h"
#include "transport/loop/conversation.h"
#include "transport/loop/loop_carrier.h"

namespace softdat::transport::loop {

End& End::peer() const {
  return this == &whole_.active() ? whole_.passive() : whole_.active();
}

bool End::has_room() const {
  return peer().inbox_cost_ < network_.options().capacity;
}

void End::note_busy() {
  if (carrier_ != nullptr) carrier_->note_busy(whole_.share(*this));
}

void End::become_closed() {
  base::require_lock(locks::kLoopNetwork);
  base::check(!unanswered_ || *unanswered_ > 0, "a port counts each request until it is answered");
  state_ = EndState::kClosed;
  sink_ = nullptr;
  is_blocked_ = false;
  inbox_.clear();
  inbox_cost_ = 0;
  ending_.reset();
  if (unanswered_) --*std::exchange(unanswered_, nullptr);
}

void End::start_connecting(LoopCarrier& carrier, ChannelSink& sink, const Offer& request) {
  SOFTDAT_DEBUG_CHECK(state_ == EndState::kIdle, "an end begins once", static_cast<std::uint64_t>(state_));
  carrier_ = &carrier;
  sink_ = &sink;
  offer_ = request;
  state_ = EndState::kConnecting;
}

void End::start_requested(Unanswered unanswered, const Offer& request) {
  SOFTDAT_DEBUG_CHECK(state_ == EndState::kIdle, "an end begins once", static_cast<std::uint64_t>(state_));
  offer_ = request;
  unanswered_ = std::move(unanswered);
  ++*unanswered_;
  state_ = EndState::kRequested;
}

bool End::accept(const Offer& reply, ChannelSink& sink) {
  base::require_lock(locks::kLoopNetwork);
  if (state_ != EndState::kRequested) return false;
  Item item{.kind = ItemKind::kReply, .offer = reply};
  --*std::exchange(unanswered_, nullptr);
  state_ = EndState::kAccepting;
  sink_ = &sink;
  features_ = offer_.features & reply.features;
  peer().post(std::move(item));
  return true;
}

void End::refuse(Refusal reason, std::span<const std::byte> private_data) {
  base::require_lock(locks::kLoopNetwork);
  if (state_ != EndState::kRequested && state_ != EndState::kIdle) return;
  Item item{.kind = ItemKind::kRefusal, .refusal = reason};
  item.offer.private_data.assign(private_data.begin(), private_data.end());
  peer().post(std::move(item));
  become_closed();
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
    fail(CloseReason::kLost);
    return SendResult::kClosed;
  }
}

SendResult End::send_in_chunks(const Message& message, PayloadSource* payload) {
  const std::uint64_t total = payload_length(message);
  std::size_t budget = network_.options().max_per_send;
  do {
    if (!has_room() || budget == 0) {
      is_blocked_ = true;
      if (can_wake_sender()) note_busy();
      return SendResult::kBlocked;
    }
    const std::size_t room = network_.options().capacity - peer().inbox_cost_;
    const std::size_t length = std::min<std::uint64_t>({total - taken_, network_.pick_chunk(), budget, room});
    if (!take_chunk(message, payload, length)) {
      return std::exchange(taken_, 0) == 0 ? SendResult::kFault : SendResult::kFaultMidway;
    }
    budget -= length;
  } while (taken_ < total);
  taken_ = 0;
  return SendResult::kDone;
}

bool End::take_chunk(const Message& message, PayloadSource* payload, std::size_t length) {
  Item item{.message = message, .message_offset = taken_};
  item.bytes.resize(length);
  for (std::size_t done = 0; done < length;) {
    SliceList slices;
    const std::size_t before = done;
    if (!payload->gather(taken_ + before, length - before, slices)) return false;
    for (const Slice& slice : slices.slices()) {
      const std::size_t part = std::min(slice.length, length - done);
      if (!base::copy_in(item.bytes.data() + done, slice.data, part)) return false;
      done += part;
    }
    base::check(done > before, "a gather covers at least one byte");
  }
  taken_ += length;
  SOFTDAT_DEBUG_CHECK(taken_ <= payload_length(message), "a message has the bytes that were taken of it", taken_);
  item.is_last = taken_ == payload_length(message);
  peer().post(std::move(item));
  return true;
}

void End::fail(CloseReason reason) {
  end_with(reason);
  state_ = EndState::kFailing;
  peer().lose();
}

void End::end_with(CloseReason reason) {
  inbox_.clear();
  inbox_cost_ = 0;
  ending_ = reason;
  note_busy();
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
  if (mode == CloseMode::kAbrupt) peer().drop_chunks();
  peer().post({.kind = ItemKind::kBye});
  become_closed();
}

void End::drop_chunks() {
  std::erase_if(inbox_, [](const Item& item) { return item.kind == ItemKind::kChunk; });
  inbox_cost_ = 0;
  for (const Item& item : inbox_) inbox_cost_ += item.cost();
}

void End::lose() {
  base::require_lock(locks::kLoopNetwork);
  if (state_ == EndState::kClosed || state_ == EndState::kFailing) return;
  end_with(CloseReason::kLost);
}

void End::silence() {
  become_closed();
  carrier_ = nullptr;
}

void End::post(Item item) try {
  base::require_lock(locks::kLoopNetwork);
  if (state_ == EndState::kClosed || ending_ || carrier_ == nullptr) return;
  item.due = network_.pick_due();
  if (!inbox_.empty()) item.due = std::max(item.due, inbox_.back().due);
  const std::size_t cost = item.cost();
  inbox_.push_back(std::move(item));
  inbox_cost_ += cost;
  note_busy();
} catch (const std::bad_alloc&) {
  lose();
  peer().lose();
}

}  // namespace softdat::transport::loop
