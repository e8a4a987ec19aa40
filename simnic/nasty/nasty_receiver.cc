// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/nasty_receiver.h"

#include <algorithm>
#include <new>
#include <utility>

#include "simnic/nasty/arrived.h"

namespace softdat::simnic::nasty {
namespace {

using transport::Arrival;
using transport::Message;
using transport::Opcode;
using transport::Placement;
using transport::SliceList;

// A longer message is placed as it comes.
constexpr std::size_t kMostOfMessage = std::size_t{1} << 20;

}  // namespace

Placement NastyReceiver::place(const Arrival& arrival, SliceList& out) {
  // The message before may have been void, and have had no end.
  if (arrival.message_offset == 0) {
    bytes_.clear();
    is_streaming_ = false;
    arriving_ = Message{.opcode = arrival.opcode, .stag = arrival.stag, .offset = arrival.offset};
  }
  if (is_streaming_) return context_.sink.place(arrival, out);
  const std::uint64_t end = arrival.message_offset + arrival.length;
  if (end > kMostOfMessage) return begin_stream(arrival, out);
  try {
    if (bytes_.size() < end) bytes_.resize(end);
  } catch (const std::bad_alloc&) {
    return begin_stream(arrival, out);
  }
  if (arrival.length > 0) out.add(bytes_.data() + arrival.message_offset, arrival.length);
  return Placement::kPlace;
}

// Places the kept pieces of the message; later pieces are placed as they arrive.
Placement NastyReceiver::begin_stream(const Arrival& arrival, SliceList& out) {
  kept_.hand_on_all();
  if (context_.is_over) return Placement::kDiscard;
  is_streaming_ = true;
  Arrived begun{.message = {.opcode = arrival.opcode, .stag = arrival.stag}};
  if (transport::is_tagged(arrival.opcode)) begun.message.offset = arrival.offset - arrival.message_offset;
  begun.bytes = std::exchange(bytes_, {});
  begun.bytes.resize(std::min<std::size_t>(begun.bytes.size(), arrival.message_offset));
  if (!begun.bytes.empty() && !place_all(context_, begun)) return Placement::kDiscard;
  return context_.sink.place(arrival, out);
}

// Order is kept: a message waits if an earlier one does.
void NastyReceiver::on_message(const Message& message) {
  arriving_.reset();
  const Inbound fate = decide(message.opcode);
  if (std::exchange(is_streaming_, false)) return context_.sink.on_message(message);
  const bool is_late = fate.late > 0 || fate.torn > 0 || !kept_.empty();
  if (is_late && kept_.keep(message, bytes_, fate)) return;
  kept_.hand_on_all();
  if (context_.is_over) return;
  hand_on(context_, {.message = message, .bytes = std::exchange(bytes_, {}), .fate = fate});
}

Inbound NastyReceiver::decide(Opcode opcode) {
  const Decisions& decisions = context_.carrier.decisions();
  const bool is_answer = opcode == Opcode::kReadResponse || opcode == Opcode::kAtomicResponse;
  if (is_answer) return decisions.decide_answer(context_.where, ++answers_);
  // A repetition for want of a receive has the same fate, and is not noted twice.
  const bool is_again = ++requests_ <= decided_;
  decided_ = std::max(decided_, requests_);
  return decisions.decide_arrival(context_.where, requests_, is_again);
}

void NastyReceiver::on_note(const Message& note) {
  kept_.hand_on_all();
  if (context_.is_over) return;
  if (note.note == transport::NoteKind::kResent) requests_ = note.note_value;
  context_.sink.on_message(note);
}

void NastyReceiver::hand_on_all() {
  kept_.hand_on_all();
  // The beginning of an answer tells the queue pair that the peer has carried out all before it; the end will not come.
  const bool has_begun = arriving_ && arriving_->opcode == Opcode::kReadResponse && !is_streaming_;
  if (context_.is_over || !has_begun) return;
  SliceList nothing;
  static_cast<void>(context_.sink.place(part_of(*arriving_, 0, 0), nothing));
}

}  // namespace softdat::simnic::nasty
