// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/nasty/arrived.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/ordered_copy.h"
#include "simnic/nasty/placing.h"

namespace softdat::simnic::nasty {
namespace {

using transport::Arrival;
using transport::Message;
using transport::Placement;
using transport::SliceList;

// More of a receive beyond its message stays as it was.
constexpr std::uint64_t kMostScribbled = std::uint64_t{64} << 10;

bool takes_receive(const Message& message) {
  return transport::carries_payload(message.opcode) && !transport::is_tagged(message.opcode);
}

// Fills the bytes [from, to) of the message's place with garbage. Memory that faults stays as it is.
void scribble(const ChannelContext& context, const Message& message, std::uint64_t from, std::uint64_t to) {
  std::array<std::byte, 256> garbage{};
  for (std::size_t i = 0; i < garbage.size(); ++i) garbage[i] = context.carrier.decisions().garbage(i);
  for (std::uint64_t done = from; done < to;) {
    SliceList slices;
    const Placement placement = context.sink.place(part_of(message, done, to), slices);
    if (placement == Placement::kDiscard || slices.empty()) return;
    for (const transport::Slice& slice : slices.slices()) {
      for (std::size_t at = 0; at < slice.length; at += garbage.size()) {
        const std::size_t length = std::min(garbage.size(), slice.length - at);
        if (!base::copy_ordered(slice.data + at, garbage.data(), length)) return;
      }
      done += slice.length;
    }
  }
}

void scribble_beyond(const ChannelContext& context, const Arrived& arrived) {
  const std::uint64_t end = arrived.bytes.size();
  const std::uint64_t room = context.sink.receive_length();
  if (room > end) scribble(context, arrived.message, end, std::min(room, end + kMostScribbled));
}

// How many of `most` bytes have a place.
std::size_t room_in(const SliceList& slices, std::size_t most) {
  std::size_t room = 0;
  for (const transport::Slice& slice : slices.slices()) room += slice.length;
  return std::min(room, most);
}

}  // namespace

// Bytes [begin, end) of a message, as a carrier would announce them.
Arrival part_of(const Message& message, std::uint64_t begin, std::uint64_t end) {
  return {.opcode = message.opcode,
          .first = begin == 0,
          .stag = message.stag,
          .offset = message.offset + (transport::is_tagged(message.opcode) ? begin : 0),
          .message_offset = begin,
          .length = static_cast<std::size_t>(end - begin)};
}

void place_first(const ChannelContext& context, Arrived& arrived) {
  const std::span<const std::byte> bytes(arrived.bytes);
  if (bytes.empty()) return;
  // Garbage may stand in a receive or a read's sink, which are the adapter's until the completion. A target of a write
  // may be in use by the program or by other peers.
  const bool is_ours_alone = arrived.message.opcode != transport::Opcode::kWrite;
  if (is_ours_alone) scribble(context, arrived.message, 0, bytes.size());
  if (context.is_over) return;
  SliceList slices;
  const Placement placement = context.sink.place(part_of(arrived.message, 0, bytes.size()), slices);
  if (placement == Placement::kDiscard || slices.empty()) return;
  const std::size_t placed = room_in(slices, bytes.size());
  const Pieces pieces(placed, arrived.fate.order, slices.slices().front().data);
  // Half of the pieces now, the rest later: a program that polls on memory sees a torn message. No byte of a write is
  // stored twice, since others may have changed it meanwhile; so one that is a single piece comes later.
  const std::size_t half = is_ours_alone ? (pieces.count() + 1) / 2 : pieces.count() / 2;
  for (std::size_t i = 0; i < half; ++i) {
    // A fault is told when all is placed.
    if (!copy_piece(slices.slices(), bytes.first(placed), pieces.at(i))) return;
    if (!is_ours_alone) ++arrived.stored_pieces;
  }
}

// Asks the sink for each part, as a carrier does. False: discarded, faulted, or the connection has ended.
bool place_all(const ChannelContext& context, const Arrived& arrived) {
  const std::span<const std::byte> bytes(arrived.bytes);
  std::size_t done = 0;
  do {
    const Arrival arrival = part_of(arrived.message, done, bytes.size());
    SliceList slices;
    if (context.sink.place(arrival, slices) == Placement::kDiscard || context.is_over) return false;
    const std::size_t placed = room_in(slices, bytes.size() - done);
    const Pieces pieces(placed, arrived.fate.order, slices.empty() ? nullptr : slices.slices().front().data);
    for (std::size_t i = done == 0 ? arrived.stored_pieces : 0; placed > 0 && i < pieces.count(); ++i) {
      if (copy_piece(slices.slices(), bytes.subspan(done, placed), pieces.at(i))) continue;
      context.sink.on_fault(arrival);
      return false;
    }
    done += placed;
  } while (done < bytes.size());
  return true;
}

void hand_on(const ChannelContext& context, const Arrived& arrived) {
  if (transport::carries_payload(arrived.message.opcode)) {
    const bool is_placed = place_all(context, arrived);
    if (is_placed && takes_receive(arrived.message)) scribble_beyond(context, arrived);
  }
  if (!context.is_over) context.sink.on_message(arrived.message);
}

}  // namespace softdat::simnic::nasty
