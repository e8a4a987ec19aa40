// SPDX-License-Identifier: BSD-2-Clause
// The receiving half of End: what a turn does with the inbox. Any call of a sink may close or
// destroy the channel, so state_ is looked at again after each.
#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "transport/copy_to_places.h"
#include "transport/loop/conversation.h"
#include "transport/loop/end.h"
#include "transport/loop/loop_carrier.h"

namespace softdat::transport::loop {

bool End::deliver_one(base::Time now) {
  base::require_lock(locks::kLoopNetwork);
  if (ending_) {
    deliver_closing(*ending_, {});
    return true;
  }
  if (inbox_.empty() || inbox_.front().due > now) return false;
  Item item = std::move(inbox_.front());
  inbox_.pop_front();
  SOFTDAT_DEBUG_CHECK(item.cost() <= inbox_cost_, "the inbox costs what its items cost", item.cost(), inbox_cost_);
  inbox_cost_ -= item.cost();
  if (peer().can_wake_sender()) peer().note_busy();
  deliver(item);
  return true;
}

bool End::wake_sender() {
  if (!can_wake_sender()) return false;
  SOFTDAT_DEBUG_CHECK(sink_ != nullptr, "an end that is open has a sink");
  is_blocked_ = false;
  sink_->on_writable();
  return true;
}

void End::deliver(Item& item) {
  switch (item.kind) {
    case ItemKind::kRequest:
      return carrier_->serve_request(whole_.share(*this), item.offer);
    case ItemKind::kReply:
      return deliver_reply(item);
    case ItemKind::kRefusal:
      return deliver_refusal(item.refusal, item.offer.private_data);
    case ItemKind::kConfirmation:
      if (state_ != EndState::kAccepting) return;
      state_ = EndState::kOpen;
      if (can_wake_sender()) note_busy();
      return sink_->on_established(offer_);
    case ItemKind::kChunk:
      return deliver_chunk(item);
    case ItemKind::kBye:
      return deliver_closing(CloseReason::kBye, {});
    case ItemKind::kTerminate:
      return deliver_closing(CloseReason::kTerminated, item.message.terminate);
  }
}

void End::deliver_reply(const Item& item) {
  if (state_ != EndState::kConnecting) return;
  state_ = EndState::kOpen;
  features_ = offer_.features & item.offer.features;
  // Ahead of anything that the sink sends from on_established().
  peer().post({.kind = ItemKind::kConfirmation});
  if (can_wake_sender()) note_busy();
  sink_->on_established(item.offer);
}

void End::deliver_refusal(Refusal reason, std::span<const std::byte> private_data) {
  if (state_ != EndState::kConnecting) return;
  ChannelSink& sink = *sink_;
  become_closed();
  sink.on_refused(reason, private_data);
}

void End::deliver_closing(CloseReason reason, const TerminateCode& code) {
  const EndState before = state_;
  ChannelSink* sink = sink_;
  become_closed();
  if (before == EndState::kConnecting) sink->on_refused(Refusal::kUnreachable, {});
  if (before == EndState::kAccepting) sink->on_closed(CloseReason::kLost, {});
  if (before == EndState::kOpen || before == EndState::kFailing) sink->on_closed(reason, code);
}

void End::deliver_chunk(const Item& item) {
  if (state_ != EndState::kOpen) return;
  if (carries_payload(item.message.opcode) && !place_chunk(item)) return;
  if (item.is_last) sink_->on_message(item.message);
}

// Asks the sink for places until the chunk has gone. False when the sink closed the channel.
bool End::place_chunk(const Item& item) {
  const bool tagged = is_tagged(item.message.opcode);
  std::size_t done = 0;
  do {
    const std::uint64_t at = item.message_offset + done;
    const Arrival arrival{.opcode = item.message.opcode,
                          .first = at == 0,
                          .stag = tagged ? item.message.stag : 0,
                          .offset = tagged ? item.message.offset + at : 0,
                          .message_offset = at,
                          .length = item.bytes.size() - done};
    SliceList slices;
    const Placement placement = sink_->place(arrival, slices);
    if (state_ != EndState::kOpen) return false;
    if (placement == Placement::kDiscard) return true;
    const std::span<const std::byte> rest = std::span(item.bytes).subspan(done);
    std::size_t placed = 0;
    if (!copy_to_places(slices, rest, placed)) {
      sink_->on_fault(arrival);
      if (state_ != EndState::kOpen) return false;
      continue;
    }
    base::check(placed > 0 || rest.empty(), "a placement covers at least one byte");
    done += placed;
  } while (done < item.bytes.size());
  return true;
}

}  // namespace softdat::transport::loop
