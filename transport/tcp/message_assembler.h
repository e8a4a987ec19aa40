// SPDX-License-Identifier: BSD-2-Clause
// MessageAssembler: makes messages of the segments of one connection. It holds them to the rules of DDP and RDMAP
// (queues, sequence numbers, offsets), asks the sink where their payload goes, and gives it each message that is whole.
// Baton only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/message.h"
#include "transport/tcp/inbound_sink.h"
#include "transport/tcp/opcode_table.h"
#include "transport/tcp/segment.h"

namespace softdat::transport::tcp {

class MessageAssembler {
 public:
  explicit MessageAssembler(InboundSink& sink) : sink_(sink) {}
  void start(const InboundRules& rules) { rules_ = rules; }

  // A send of one segment whose bytes have come, which the sink may take at once. False: nothing was done, and begin()
  // comes next. REQUIRES: as begin().
  bool take_whole_send(const WholeSend& send, std::span<const std::byte> payload);
  // A segment with `payload` bytes of payload, whose head has come. Returns what the peer did wrong, after which
  // nothing more may come. REQUIRES: the segment before it has ended.
  std::optional<TerminateCode> begin(const Segment& segment, std::size_t payload);
  // Tells the sink of the ack that rode in the head, and asks it for the place of a message of no bytes. Comes once,
  // behind begin(). False, here and below: the sink has stopped receiving.
  bool announce();
  // Asks where the next `length` bytes of payload go. REQUIRES: they have arrived.
  bool ask(std::size_t length, SliceList& slices, Placement& placement);
  // The next `length` bytes are in their place, or dropped.
  void advance(std::size_t length);
  // Their place faults. The bytes stay, and the sink will not want them.
  bool report_fault(std::size_t length);
  // The segment is whole; `body` is its RDMAP header. A void message stays unfinished, because its sender has only a
  // Terminate left to send.
  bool end(std::span<const std::byte> body, bool is_void);

  // Payload of the present segment that has no place yet.
  std::size_t payload_left() const { return payload_left_; }
  bool has_ended_one() const { return !is_first_; }
  bool is_between_messages() const { return !tagged_.is_active && !untagged_.is_active; }

 private:
  enum class Kind { kPlain, kNote, kReadyToReceive };
  // A message that has begun and not ended. A tagged and an untagged one may be under way at the same time.
  struct Progress {
    bool is_active = false;
    Message message{};
    std::uint64_t done = 0;
  };

  Kind kind_of_empty_write() const;
  std::optional<TerminateCode> begin_tagged();
  std::optional<TerminateCode> begin_untagged();
  std::optional<TerminateCode> begin_message(Progress& progress);
  std::optional<TerminateCode> check_queue() const;
  bool hear_riding_ack();
  Arrival arrival_of(std::size_t length);
  void deliver(std::span<const std::byte> body);
  Progress& progress() { return is_tagged(segment_.opcode) ? tagged_ : untagged_; }

  InboundSink& sink_;
  InboundRules rules_{};
  bool is_first_ = true;  // no segment before the present one
  Kind kind_ = Kind::kPlain;
  bool owes_ack_ = false;    // the head carries an ack that the sink has not heard
  bool owes_place_ = false;  // an empty message asks for its place once
  Segment segment_{};
  std::size_t payload_ = 0;
  std::size_t payload_left_ = 0;
  Progress tagged_;
  Progress untagged_;
  std::uint64_t heard_ack_ = 0;
  std::array<std::uint32_t, kQueueCount> next_sequence_{1, 1, 1, 1};
};

}  // namespace softdat::transport::tcp
