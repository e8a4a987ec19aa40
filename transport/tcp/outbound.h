// SPDX-License-Identifier: BSD-2-Clause
// Outbound: turns messages into FPDUs and writes them to the socket. Small ones are copied and
// leave together; large payload goes from where it lies. An FPDU is never torn: one that the socket
// took in part is finished before anything else. Baton only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/assert.h"
#include "transport/channel.h"
#include "transport/message.h"
#include "transport/tcp/buffer_pool.h"
#include "transport/tcp/opcode_table.h"
#include "transport/tcp/segment.h"
#include "transport/tcp/terminate.h"

namespace softdat::transport::tcp {

struct OutboundRules {
  bool has_crc = false;
  // Each FPDU leaves alone, in one call that ends a record: what some receivers need (docs/WIRE.md,
  // "Foreign peers").
  bool is_one_by_one = false;
  bool knows_notes = false;
  bool knows_voids = false;  // the peer does not deliver a message whose last FPDU has the void mark
  bool acks_ride = false;    // the peer looks for an ack in the header of a send
  std::size_t max_ulpdu = 0;
};

enum class WriteStatus {
  kDone,
  kBlocked,      // the socket is full
  kYielded,      // enough for one call; go on soon
  kFault,        // the payload cannot be read, and nothing of the message was taken
  kFaultMidway,  // the same, but its beginning was
  kLost,         // the socket failed
};

class Outbound {
 public:
  explicit Outbound(BufferPool& pool) : pending_(pool) {}
  // REQUIRES: a max_ulpdu with room for payload.
  void start(const OutboundRules& rules) {
    SOFTDAT_DEBUG_CHECK(rules.max_ulpdu > kUntaggedHeadSize, "an FPDU has room for payload", rules.max_ulpdu);
    rules_ = rules;
  }

  // As Channel::send; after kBlocked and kYielded the same message comes again.
  WriteStatus send(int fd, const Message& message, PayloadSource* payload);
  WriteStatus flush(int fd);

  // For fault injection. The next message that send() takes is damaged behind its CRC...
  void damage_next(const Damage& damage) { damage_ = damage; }
  // ...and half of the first FPDU of this message is written. Only the end of the connection may follow.
  void send_part(int fd, const Message& message, PayloadSource* payload);

  // Our own messages; they wait for flush(). Require is_at_border(). Without memory the peer goes without them. An ack
  // that waits to ride goes before them.
  void append_note(NoteKind kind, std::uint64_t value);
  void append_ready_to_receive();
  void append_terminate(const Terminate& terminate);

  // False while an FPDU stands half in the socket and half in the consumer's memory. After kFaultMidway it is true,
  // unless the FPDU ends its message and the peer knows no voids, or memory for the rest of it is lacking.
  bool is_at_border() const { return position_ == 0; }
  bool is_flushed() const { return pending_.empty() && !waiting_ack_; }
  // Neither bytes nor a message on their way.
  bool is_idle() const { return is_flushed() && is_at_border() && !is_in_message_; }

  // After kLost: the peer closed or reset the connection, as opposed to the network failing.
  bool is_ended_by_peer() const;

  // Gives the buffer back; what was in it is lost. For a connection that has ended.
  void abandon() { pending_.release(); }

 private:
  static constexpr std::size_t kMaxHead = 2 + kUntaggedHeadSize + 52;
  struct Head {
    std::array<std::byte, kMaxHead> bytes;
    std::size_t size = 0;
  };

  // Length, DDP and RDMAP header of an FPDU, of at most kMaxHead bytes.
  std::size_t encode_head(const Message& message, std::uint32_t taken, std::size_t payload, std::byte* to) const;
  Head make_head(const Message& message, std::uint32_t taken, std::size_t payload) const;
  std::size_t part_at(const Message& message, std::uint32_t taken) const;
  static std::size_t ulpdu_size(const Message& message, std::size_t payload);
  bool goes_direct(const Message& message) const;

  WriteStatus send_copied(int fd, const Message& message, PayloadSource* payload);
  WriteStatus make_room(int fd, std::size_t size);
  bool append_fpdu(const Message& message, PayloadSource* payload, std::size_t part);
  [[gnu::cold]] void carry_out_damage(std::byte* fpdu, std::size_t head, std::size_t part);
  void append_raw(const Segment& segment, const std::byte* body, std::size_t size);
  bool can_ride(std::uint64_t ack) const;
  bool takes_ack(const Message& message) const;
  void put_ack_into(std::byte* fpdu) const;
  void append_waiting_ack();
  void seal(std::byte* fpdu, std::size_t ulpdu_length, std::uint32_t crc) const;

  WriteStatus note_error(int error);
  WriteStatus send_direct(int fd, const Message& message, PayloadSource* payload);
  WriteStatus send_batch(int fd, const Message& message, PayloadSource* payload, std::size_t& budget);
  void account(const Message& message, std::size_t sent);
  void finish_message(const Message& message);
  void note_progress(const Message& message);
  WriteStatus fault_in(const Message& message);
  void fill_up(const Message& message);
  void check_border() const;
  WriteStatus fault() const { return is_in_message_ ? WriteStatus::kFaultMidway : WriteStatus::kFault; }

  ByteBuffer pending_;  // whole FPDUs (the first perhaps without its front) on their way out
  OutboundRules rules_{};
  std::array<std::uint32_t, kQueueCount> next_sequence_{1, 1, 1, 1};
  int error_ = 0;  // errno of the socket's failure
  // Waits for the next send, to ride in its header, or for whatever leaves before one. Only where acks ride.
  std::optional<std::uint64_t> waiting_ack_;
  std::uint64_t told_ack_ = 0;  // the last one that the peer has been sent
  // Of the message that was taken in part:
  bool is_in_message_ = false;
  Message message_{};
  std::uint32_t taken_ = 0;       // payload in FPDUs that are done with
  std::size_t position_ = 0;      // bytes of the next FPDU that the socket has already
  std::optional<Damage> damage_;  // not yet done
};

}  // namespace softdat::transport::tcp
