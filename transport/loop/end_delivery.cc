// SPDX-License-Identifier: BSD-2-Clause
// The receiving half of End: what a turn does with the inbox. Any call of a sink may close or
// destroy the channel, so state_ is looked at again after each.
#include <algorithm>
#include <span>
#include <utility>

#include "base/assert.h"
#include "transport/copy_to_places.h"
#include "transport/loop/conversation.h"
#include "transport/loop/end.h"
#include "transport/loop/loop_carrier.h"

namespace softdat::transport::loop {
namespace {

// Asks the sink for places until the chunk has gone. False when the sink closed the channel. `state` is the end's.
bool place_chunk(const Item& item, ChannelSink& sink, const EndState& state) {
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
    const Placement placement = sink.place(arrival, slices);
    if (state != EndState::kOpen) return false;
    if (placement == Placement::kDiscard) return true;
    const std::span<const std::byte> rest = std::span(item.bytes).subspan(done);
    std::size_t placed = 0;
    // The receiver's memory went since place(). After on_fault() the sink discards the rest of the message.
    if (!copy_to_places(slices, rest, placed)) {
      sink.on_fault(arrival);
      if (state != EndState::kOpen) return false;
      continue;
    }
    base::check(placed > 0 || rest.empty(), "a placement covers at least one byte");
    done += placed;
  } while (done < item.bytes.size());
  return true;
}

void deliver_chunk(const Item& item, ChannelSink& sink, const EndState& state) {
  if (carries_payload(item.message.opcode) && !place_chunk(item, sink, state)) return;
  if (item.is_last) sink.on_message(item.message);
}

}  // namespace

bool End::deliver_one(base::Time now) {
  base::require_lock(locks::kLoopNetwork);
  // A loss overtakes everything that was under way, as on a real network.
  if (inbox_.reason()) {
    deliver_closing(*inbox_.reason(), {});
    return true;
  }
  const std::optional<base::Time> due = inbox_.next_due();
  if (!due || *due > now) return false;
  const Item item = inbox_.take_oldest();
  // The inbox has room again, and the sender is woken in its own carrier's turn.
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

// In a turn of the carrier that has this end, with the lock of the network.
void End::deliver(const Item& item) {
  switch (item.kind) {
    case ItemKind::kRequest:
    case ItemKind::kReply:
    case ItemKind::kRefusal:
    case ItemKind::kConfirmation:
      return deliver_handshake(item);
    case ItemKind::kChunk:
      if (state_ == EndState::kOpen) deliver_chunk(item, *sink_, state_);
      return;
    case ItemKind::kBye:
      return deliver_closing(CloseReason::kBye, {});
    case ItemKind::kTerminate:
      return deliver_closing(CloseReason::kTerminated, item.message.terminate);
  }
}

void End::deliver_closing(CloseReason reason, const TerminateCode& code) {
  const EndState before = state_;
  ChannelSink* sink = sink_;
  become_closed();
  // The sink hears the word that fits its state: a connection that has not begun cannot be closed.
  if (before == EndState::kConnecting) sink->on_refused(Refusal::kUnreachable, {});
  if (before == EndState::kAccepting) sink->on_closed(CloseReason::kLost, {});
  if (before == EndState::kOpen || before == EndState::kFailing) sink->on_closed(reason, code);
}

}  // namespace softdat::transport::loop
