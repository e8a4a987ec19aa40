// SPDX-License-Identifier: BSD-2-Clause
// Outbound: what one channel sends: how far the message under way has been written, and the ack that waits to ride. A
// part of its channel. Allocates nothing and, while the peer polls, enters no kernel.
//
// Threads: REQUIRES the baton, but for send_short(), which the channel's owner calls with or without. Errors: memory of
// the consumer that cannot be read is kFault.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "transport/channel.h"
#include "transport/shm/record.h"

namespace softdat::transport::shm {

class Link;

// An ack that waits for the next record, or for flush(): it then rides in that record's head, if it can.
class WaitingAck {
 public:
  bool is_there() const { return is_there_; }
  std::uint64_t value() const { return value_; }
  bool may_ride() const { return may_ride(value_); }
  bool may_ride(std::uint64_t value) const {
    // At least one more than told, and not too many; in one comparison.
    return value - told_ - 1 < std::numeric_limits<std::uint16_t>::max();
  }
  // REQUIRES: may_ride(value).
  std::uint16_t as_acks(std::uint64_t value) const { return static_cast<std::uint16_t>(value - told_); }
  std::uint16_t as_acks() const { return is_there_ ? as_acks(value_) : std::uint16_t{0}; }
  void hold(std::uint64_t value) {
    value_ = value;
    is_there_ = true;
  }
  void note_told(std::uint64_t value) {
    told_ = value;
    is_there_ = false;
  }
  void note_told() { note_told(value_); }

 private:
  std::uint64_t value_ = 0;
  std::uint64_t told_ = 0;  // the last one that the peer knows of
  bool is_there_ = false;
};

class Outbound {
 public:
  // The channel sends by this link, under this number, until leave().
  void join(Link& link, std::uint32_t number) {
    link_ = &link;
    number_ = number;
    word_ = pack(RecordWord{.bytes = 0, .kind = RecordKind::kMessage, .channel = number});
  }
  void leave() { link_ = nullptr; }
  Link* link() const { return link_; }
  std::uint32_t number() const { return number_; }

  // Writes the message, or the rest of one that was blocked. kBlocked: the caller waits for room. REQUIRES a link.
  SendResult send(const Message& message, PayloadSource* payload);
  // A record of its own, with whatever there is to acknowledge. False, and nothing done: use send(). REQUIRES a link.
  bool send_short(const ShortSend& short_send);
  // Tells the peer in a record of its own what is to be acknowledged. REQUIRES a link, if an ack waits.
  void tell_ack();
  // Whether any ShortSend goes by send_short().
  void allow_short_sends(bool are_allowed) {
    short_end_.store(are_allowed ? kMostPayload + 1 : 0, std::memory_order_relaxed);
  }

 private:
  enum class Piece { kTaken, kNoRoom, kFault };

  Piece write_piece(const Message& message, PayloadSource* payload);
  bool fill(PayloadSource* payload, std::byte* to, std::size_t length) const;
  void publish(RecordKind kind, std::uint32_t bytes);
  SendResult fault();

  Link* link_ = nullptr;  // null: not yet, or no more
  std::uint32_t number_ = 0;
  // The first word of its short messages without their length. Kept whole: GCC would spill the 32-bit number to the
  // stack during the copy of the payload and reload it as 64 bits, a store-forwarding stall.
  std::uint64_t word_ = 0;
  std::uint64_t taken_ = 0;  // of the message that send() has taken in part
  WaitingAck ack_;           // ours to the peer
  // A ShortSend with this many bytes or more does not go by send_short(). Written with the baton.
  std::atomic<std::size_t> short_end_{kMostPayload + 1};
};

}  // namespace softdat::transport::shm
