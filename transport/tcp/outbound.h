// SPDX-License-Identifier: BSD-2-Clause
// Outbound: cuts messages into FPDUs for one connection. Small ones are copied into its stream and leave together;
// large payload goes to the socket from where it lies. An FPDU is never torn: one that the socket took in part is
// finished before anything else. Baton only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "transport/channel.h"
#include "transport/message.h"
#include "transport/tcp/fpdu_head.h"
#include "transport/tcp/opcode_table.h"
#include "transport/tcp/outbound_stream.h"

namespace softdat::transport::tcp {

class Outbound {
 public:
  // REQUIRES of all below: the stream has started.
  explicit Outbound(OutboundStream& stream) : stream_(stream) {}

  // As Channel::send; after kBlocked and kYielded the same message comes again.
  WriteStatus send(int fd, const Message& message, PayloadSource* payload);

  // As Channel::send_short, which acts as send().
  bool send_short(const ShortSend& short_send);

  // For fault injection. The next message that send() takes is damaged behind its CRC...
  void damage_next(const Damage& damage) { damage_ = damage; }
  // ...and half of the first FPDU of this message is written. Only the end of the connection may follow.
  void send_part(int fd, const Message& message, PayloadSource* payload);

  // Neither bytes nor a message on their way.
  bool is_idle() const { return stream_.is_flushed() && !is_in_message_; }

 private:
  struct Head {
    std::array<std::byte, kMaxFpduHead> bytes;
    std::size_t size = 0;
  };

  std::size_t encode_head(const Message& message, std::uint32_t taken, std::size_t payload, std::byte* to) const;
  Head make_head(const Message& message, std::uint32_t taken, std::size_t payload) const;
  std::size_t part_at(const Message& message, std::uint32_t taken) const;
  bool goes_direct(const Message& message) const;
  bool takes_ack(const Message& message) const;

  WriteStatus send_note(int fd, NoteKind kind, std::uint64_t value);
  WriteStatus send_copied(int fd, const Message& message, PayloadSource* payload);
  bool append_fpdu(const Message& message, PayloadSource* payload, std::size_t part);
  [[gnu::cold]] void carry_out_damage(std::byte* fpdu, std::size_t head, std::size_t part);

  WriteStatus send_direct(int fd, const Message& message, PayloadSource* payload);
  WriteStatus send_batch(int fd, const Message& message, PayloadSource* payload, std::size_t& budget);
  void account(const Message& message, std::size_t sent);
  WriteStatus fault_in(const Message& message);
  void fill_up(const Message& message);

  void finish_message(const Message& message);
  void note_progress(const Message& message);
  WriteStatus fault() const { return is_in_message_ ? WriteStatus::kFaultMidway : WriteStatus::kFault; }

  OutboundStream& stream_;
  std::array<std::uint32_t, kQueueCount> next_sequence_{1, 1, 1, 1};
  std::optional<Damage> damage_;  // not yet done
  // The message that was taken in part. Its copy is last, because the others are looked at for each message.
  bool is_in_message_ = false;
  std::uint32_t taken_ = 0;  // payload in FPDUs that are done with
  Message message_{};
};

}  // namespace softdat::transport::tcp
