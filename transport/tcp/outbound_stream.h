// SPDX-License-Identifier: BSD-2-Clause
// OutboundStream: holds the bytes of one connection that the socket has not taken. Whole FPDUs that were copied leave
// the buffer together. An FPDU that goes from where it lies follows them; the stream knows how much of it the socket
// has. Makes the carrier's own messages. Baton only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.h"
#include "transport/message.h"
#include "transport/tcp/buffer_pool.h"
#include "transport/tcp/segment.h"
#include "transport/tcp/terminate.h"
#include "transport/tcp/waiting_ack.h"

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

class OutboundStream {
 public:
  explicit OutboundStream(BufferPool& pool) : pending_(pool) {}
  // REQUIRES: a max_ulpdu with room for payload.
  void start(const OutboundRules& rules) {
    SOFTDAT_DEBUG_CHECK(rules.max_ulpdu > kUntaggedHeadSize, "an FPDU has room for payload", rules.max_ulpdu);
    rules_ = rules;
  }
  const OutboundRules& rules() const { return rules_; }

  // Our own messages; they wait for flush(). Require is_at_border(). Without memory the peer goes without them. An ack
  // that waits to ride goes before them.
  void append_note(NoteKind kind, std::uint64_t value);
  void append_waiting_ack();  // if there is one
  void append_ready_to_receive();
  void append_terminate(const Terminate& terminate);

  WriteStatus flush(int fd);

  // False while an FPDU stands half in the socket and half in the consumer's memory. After kFaultMidway it is true,
  // unless the FPDU ends its message and the peer knows no voids, or memory for the rest of it is lacking.
  bool is_at_border() const { return position_ == 0; }
  bool is_flushed() const { return pending_.empty() && !ack_.is_waiting(); }

  // kLost, for the errno of the socket's failure.
  WriteStatus note_error(int error);
  // After kLost: the peer closed or reset the connection, as opposed to the network failing.
  bool is_ended_by_peer() const;

  // Gives the buffer back; what was in it is lost. For a connection that has ended.
  void abandon() { pending_.release(); }

  // For Outbound.
  WaitingAck& ack() { return ack_; }
  // FPDUs that are copied: room for one, flushing if it must; then the place of its first byte, to be filled up to the
  // end of the ULPDU; then padding and CRC behind it, which goes on from `crc`, that of all before the padding.
  WriteStatus make_room(int fd, std::size_t size);
  // Whether there is room without a flush. Borrows the buffer then.
  bool has_room(std::size_t size) { return has_space(size) && pending_.borrow(); }
  std::byte* begin_fpdu(std::size_t ulpdu_length);
  void end_fpdu(std::byte* fpdu, std::size_t ulpdu_length, std::uint32_t crc);
  // FPDUs that go from where they lie: the bytes that go before them, how many bytes of the first one the socket has,
  // and how many it has taken of all that. pass_fpdu() tells whether an FPDU of that size is through, and goes on to
  // the next.
  std::span<const std::byte> waiting_bytes() const;
  std::size_t position() const { return position_; }
  void note_sent(std::size_t length);
  bool pass_fpdu(std::size_t size);
  // An image of the FPDU that the socket has in part, whose rest goes from the buffer. Null if there is no memory.
  std::byte* begin_rest(std::size_t size);
  void end_rest(std::size_t size);

 private:
  bool has_space(std::size_t size) const;
  void append_raw(const Segment& segment, const std::byte* body, std::size_t size);

  ByteBuffer pending_;  // whole FPDUs (the first perhaps without its front) on their way out
  OutboundRules rules_{};
  WaitingAck ack_;
  std::size_t position_ = 0;  // bytes of the next FPDU that the socket has already
  int error_ = 0;             // errno of the socket's failure
};

}  // namespace softdat::transport::tcp
