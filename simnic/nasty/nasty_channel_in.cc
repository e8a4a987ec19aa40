// SPDX-License-Identifier: BSD-2-Clause
// What a queue pair receives.
#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/ordered_copy.h"
#include "simnic/nasty/nasty_channel.h"
#include "simnic/nasty/placing.h"

namespace softdat::simnic::nasty {
namespace {

using transport::Arrival;
using transport::Message;
using transport::NoteKind;
using transport::Opcode;
using transport::Placement;
using transport::SliceList;

// For a program that does not poll.
constexpr base::Duration kLongest = std::chrono::milliseconds(2);
// A longer message is placed as it comes.
constexpr std::size_t kMostOfMessage = std::size_t{1} << 20;
// More is not kept: all of it is handed on.
constexpr std::size_t kMostKept = std::size_t{4} << 20;
constexpr std::size_t kMostMessages = 256;
// More of a receive beyond its message stays as it was.
constexpr std::uint64_t kMostScribbled = std::uint64_t{64} << 10;

bool is_send(Opcode opcode) {
  return transport::carries_payload(opcode) && !transport::is_tagged(opcode);
}

bool is_answer(Opcode opcode) {
  return opcode == Opcode::kReadResponse || opcode == Opcode::kAtomicResponse;
}

// The bytes [begin, end) of the message.
Arrival part_of(const Message& message, std::uint64_t begin, std::uint64_t end) {
  return {.opcode = message.opcode,
          .first = begin == 0,
          .stag = message.stag,
          .offset = message.offset + (transport::is_tagged(message.opcode) ? begin : 0),
          .message_offset = begin,
          .length = static_cast<std::size_t>(end - begin)};
}

}  // namespace

Placement NastyChannel::place(const Arrival& arrival, SliceList& out) {
  if (is_over_) return Placement::kDiscard;
  // The message before may have been void, and have had no end.
  if (arrival.message_offset == 0) {
    current_.clear();
    is_streaming_ = false;
    arriving_ = Message{.opcode = arrival.opcode, .stag = arrival.stag, .offset = arrival.offset};
  }
  if (is_streaming_) return sink_.place(arrival, out);
  const std::uint64_t end = arrival.message_offset + arrival.length;
  if (end > kMostOfMessage) return begin_stream(arrival, out);
  try {
    if (current_.size() < end) current_.resize(end);
  } catch (const std::bad_alloc&) {
    return begin_stream(arrival, out);
  }
  if (arrival.length > 0) out.add(current_.data() + arrival.message_offset, arrival.length);
  return Placement::kPlace;
}

// What is kept of the message goes to its place, and the rest follows as it comes.
Placement NastyChannel::begin_stream(const Arrival& arrival, SliceList& out) {
  hand_on_all();
  if (is_over()) return Placement::kDiscard;
  is_streaming_ = true;
  Arrived begun{.message = {.opcode = arrival.opcode, .stag = arrival.stag}};
  if (transport::is_tagged(arrival.opcode)) begun.message.offset = arrival.offset - arrival.message_offset;
  begun.bytes = std::exchange(current_, {});
  begun.bytes.resize(std::min<std::size_t>(begun.bytes.size(), arrival.message_offset));
  if (!begun.bytes.empty() && !place_all(begun)) return Placement::kDiscard;
  return sink_.place(arrival, out);
}

// The beginning of an answer tells the queue pair that the peer has carried out all before it; the end will not come.
void NastyChannel::tell_of_part() {
  if (is_over() || is_streaming_ || !arriving_ || arriving_->opcode != Opcode::kReadResponse) return;
  SliceList nothing;
  static_cast<void>(sink_.place(part_of(*arriving_, 0, 0), nothing));
}

void NastyChannel::on_fault(const Arrival& arrival) {
  if (!is_over_) sink_.on_fault(arrival);
}

void NastyChannel::on_message(const Message& message) {
  if (is_over_) return;
  if (message.opcode == Opcode::kNote) return on_note(message);
  arriving_.reset();
  const Inbound fate = decide_inbound(message.opcode);
  if (std::exchange(is_streaming_, false)) return sink_.on_message(message);
  const bool is_late = fate.late > 0 || fate.torn > 0 || !arrived_.empty();
  if (is_late && keep(message, fate)) return;
  hand_on_all();
  if (!is_over()) hand_on({.message = message, .bytes = std::exchange(current_, {}), .fate = fate});
}

Inbound NastyChannel::decide_inbound(Opcode opcode) {
  if (is_answer(opcode)) return carrier_.decisions().decide_answer(where_, ++answers_);
  const bool is_again = ++arrivals_ <= decided_arrivals_;
  decided_arrivals_ = std::max(decided_arrivals_, arrivals_);
  return carrier_.decisions().decide_arrival(where_, arrivals_, is_again);
}

// False: the message is not kept, and its payload is still in current_.
bool NastyChannel::keep(const Message& message, const Inbound& fate) {
  if (arrived_.size() >= kMostMessages || kept_ + current_.size() > kMostKept) return false;
  try {
    arrived_.emplace_back();
  } catch (const std::bad_alloc&) {
    return false;
  }
  Arrived& kept = arrived_.back();
  kept.message = message;
  kept.bytes = std::exchange(current_, {});
  kept.fate = fate;
  kept_ += kept.bytes.size();
  if (arrived_.size() == 1) begin_hold(fate.late);
  return true;
}

void NastyChannel::begin_hold(unsigned looks) {
  arrival_hold_ = carrier_.hold(*this, looks, kLongest);
}

// When the oldest has waited long enough, all that came meanwhile is handed on with it.
std::size_t NastyChannel::proceed_arrivals() {
  if (!arrival_hold_ || !carrier_.is_over(*arrival_hold_)) return 0;
  Arrived& oldest = arrived_.front();
  if (oldest.fate.torn > 0 && !oldest.is_begun) {
    oldest.is_begun = true;
    begin_hold(oldest.fate.torn);
    place_first(oldest);
  } else {
    hand_on_all();
  }
  return 1;
}

void NastyChannel::hand_on_all() {
  arrival_hold_.reset();
  while (!arrived_.empty() && !is_over()) {
    const Arrived oldest = std::move(arrived_.front());
    arrived_.pop_front();
    kept_ -= oldest.bytes.size();
    hand_on(oldest);
  }
}

void NastyChannel::hand_on(const Arrived& arrived) {
  if (transport::carries_payload(arrived.message.opcode)) static_cast<void>(place_all(arrived));
  if (!is_over()) sink_.on_message(arrived.message);
}

// The last bytes, and some others. What belongs to the adapter until it completes gets garbage elsewhere.
void NastyChannel::place_first(const Arrived& arrived) {
  if (arrived.bytes.empty()) return;
  const bool is_ours_alone = arrived.message.opcode != Opcode::kWrite;
  if (is_ours_alone) scribble(arrived, 0, arrived.bytes.size());
  if (is_over()) return;
  SliceList slices;
  if (sink_.place(part_of(arrived.message, 0, arrived.bytes.size()), slices) == Placement::kDiscard) return;
  if (slices.empty()) return;
  const Pieces pieces(arrived.bytes.size(), arrived.fate.order, slices.slices().front().data);
  // A fault is told when all is placed.
  for (std::size_t i = 0; i < (pieces.count() + 1) / 2; ++i) {
    if (!copy_piece(slices.slices(), arrived.bytes, pieces.at(i))) return;
  }
}

// False: the sink discards it, or its memory faults.
bool NastyChannel::place_all(const Arrived& arrived) {
  const std::span<const std::byte> bytes(arrived.bytes);
  std::size_t done = 0;
  do {
    const Arrival arrival = part_of(arrived.message, done, bytes.size());
    SliceList slices;
    if (sink_.place(arrival, slices) == Placement::kDiscard || is_over()) return false;
    std::size_t placed = 0;
    for (const transport::Slice& slice : slices.slices()) placed += slice.length;
    placed = std::min(placed, bytes.size() - done);
    const Pieces pieces(placed, arrived.fate.order, slices.empty() ? nullptr : slices.slices().front().data);
    for (std::size_t i = 0; placed > 0 && i < pieces.count(); ++i) {
      if (copy_piece(slices.slices(), bytes.subspan(done, placed), pieces.at(i))) continue;
      sink_.on_fault(arrival);
      return false;
    }
    done += placed;
  } while (done < bytes.size());
  const std::uint64_t room = is_send(arrived.message.opcode) && !is_streaming_ ? sink_.receive_length() : 0;
  if (room > done) scribble(arrived, done, std::min(room, done + kMostScribbled));
  return true;
}

// Fills the bytes [from, to) of the message's place with garbage. Memory that faults stays as it is.
void NastyChannel::scribble(const Arrived& arrived, std::uint64_t from, std::uint64_t to) {
  std::array<std::byte, 256> garbage{};
  for (std::size_t i = 0; i < garbage.size(); ++i) garbage[i] = carrier_.decisions().garbage(i);
  for (std::uint64_t done = from; done < to;) {
    SliceList slices;
    if (sink_.place(part_of(arrived.message, done, to), slices) == Placement::kDiscard || slices.empty()) return;
    for (const transport::Slice& slice : slices.slices()) {
      for (std::size_t at = 0; at < slice.length; at += garbage.size()) {
        const std::size_t length = std::min(garbage.size(), slice.length - at);
        if (!base::copy_ordered(slice.data + at, garbage.data(), length)) return;
      }
      done += slice.length;
    }
  }
}

// Acknowledgements pass what has arrived and waits; they say nothing of it. All other notes keep their order.
void NastyChannel::on_note(const Message& message) {
  if (message.note == NoteKind::kAck) return on_ack(message.note_value);
  hand_on_all();
  if (is_over()) return;
  if (message.note == NoteKind::kResent) arrivals_ = message.note_value;
  sink_.on_message(message);
}

// An acknowledgement that covers a request whose completion is late waits, and later ones join it.
void NastyChannel::on_ack(std::uint64_t count) {
  late_ack_ = std::max(late_ack_, count);
  if (ack_hold_) return;
  const auto first = late_.lower_bound(acknowledged_);
  const auto end = late_.lower_bound(count);
  if (first == end) return hand_on_ack();
  unsigned looks = 0;
  for (auto each = first; each != end; ++each) looks = std::max(looks, each->second);
  ack_hold_ = carrier_.hold(*this, looks, kLongest);
}

void NastyChannel::hand_on_ack() {
  ack_hold_.reset();
  if (is_over() || late_ack_ <= acknowledged_) return;
  acknowledged_ = late_ack_;
  late_.erase(late_.begin(), late_.lower_bound(acknowledged_));
  sink_.on_message({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = acknowledged_});
}

}  // namespace softdat::simnic::nasty
