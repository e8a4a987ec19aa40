// SPDX-License-Identifier: BSD-2-Clause
// Inbound: turns the bytes of one connection into placed payload and messages. Reads the socket,
// but knows no handshake and no closing. Baton only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "transport/channel.h"
#include "transport/message.h"
#include "transport/tcp/buffer_pool.h"
#include "transport/tcp/opcode_table.h"
#include "transport/tcp/segment.h"

namespace softdat::transport::tcp {

// Receives what an Inbound finds. Any call may close the connection; is_receiving() tells.
class InboundSink {
 public:
  // As ChannelSink::place; not asked once is_receiving() is false.
  virtual Placement place(const Arrival& arrival, SliceList& out) = 0;
  // As ChannelSink::on_fault.
  virtual void on_fault(const Arrival& arrival) = 0;
  // Notes and Terminates too.
  virtual void on_message(const Message& message) = 0;
  // The initiator's first FPDU carried nothing, as was agreed: a Write or a Read Request of no
  // bytes.
  virtual void on_ready_to_receive(const Message& message) = 0;
  virtual bool is_receiving() const = 0;

 protected:
  ~InboundSink() = default;
};

struct InboundRules {
  bool has_crc = false;
  bool knows_notes = false;
  bool expects_rtr = false;  // the first FPDU may be an empty one that only says "ready"
  bool knows_voids = false;  // a message whose last FPDU has the void mark is not delivered
  bool acks_ride = false;    // the header of a send may carry an ack
};

enum class ReadStatus {
  kDrained,  // nothing more in the socket for now
  kMore,     // the budget is spent
  kEnd,      // the peer has ended its stream
  kLost,     // the socket failed
  kFault,    // the peer broke the protocol: see fault
  kStopped,  // the sink does not receive any more
};

struct ReadOutcome {
  ReadStatus status;
  std::size_t bytes = 0;
  TerminateCode fault{};
};

class Inbound {
 public:
  Inbound(BufferPool& pool, InboundSink& sink) : buffer_(pool), sink_(sink) {}
  void start(const InboundRules& rules) { rules_ = rules; }

  // Reads and delivers until the socket is empty or about `budget` bytes were read.
  ReadOutcome read(int fd, std::size_t budget);

  // Gives the buffer back; what was in it is lost. For a connection that has ended.
  void abandon();

  // Whether an FPDU has come, or at least its head.
  bool has_heard() const { return !is_first_ || is_in_segment_; }

  // True between messages, with nothing of the next one here.
  bool is_at_border() const {
    return stage_ == Stage::kHead && buffer_.empty() && !tagged_.is_active && !untagged_.is_active;
  }

  // The segment that is being delivered or was at fault, for a Terminate to quote: its length and
  // head. Empty otherwise, also while only a part of a segment has come.
  std::uint16_t segment_length() const { return is_quotable() ? ulpdu_length_ : std::uint16_t{0}; }
  std::span<const std::byte> segment_head() const;

 private:
  enum class Stage { kHead, kPayload, kTrailer };
  enum class Kind { kPlain, kNote, kReadyToReceive };
  // A message of which a part has come. Tagged and untagged ones may interleave.
  struct Progress {
    bool is_active = false;
    Message message{};
    std::uint64_t done = 0;
  };

  bool is_quotable() const { return is_in_segment_ && (is_reading_ || fault_); }
  bool step();
  bool parse_head();
  bool is_crc_good(std::span<const std::byte> bytes);
  bool begin_segment(const SegmentShape& shape, std::span<const std::byte> ulpdu);
  bool begin_tagged();
  bool begin_untagged();
  bool begin_message(Progress& progress);
  bool hear_riding_ack();
  Kind kind_of_empty_write() const;
  bool check_queue();
  bool blame(const TerminateCode& code);
  bool blame_head(const TerminateCode& code, std::span<const std::byte> head);

  bool pass_payload();
  bool place_staged();
  Arrival arrival_of(std::size_t length);
  bool ask(std::size_t length, SliceList& slices, Placement& placement);
  bool report_fault(std::size_t length);
  std::optional<std::size_t> copy_staged(const SliceList& slices, std::size_t length);
  void advance(std::size_t length);
  bool pass_trailer();
  bool is_void(std::span<const std::byte> trailer) const;
  bool finish_segment(bool is_void);
  void deliver();
  Progress& progress() { return is_tagged(segment_.opcode) ? tagged_ : untagged_; }

  ReadOutcome read_until(int fd, std::size_t budget);
  bool wants_direct() const;
  std::size_t wanted_bytes() const;
  long receive_staged(int fd, std::size_t wanted);
  long receive_direct(int fd);
  long receive_slices(int fd, const SliceList& slices, std::size_t length);
  long receive_discarded(int fd, std::size_t length);

  ByteBuffer buffer_;
  InboundSink& sink_;
  InboundRules rules_{};
  Stage stage_ = Stage::kHead;
  Kind kind_ = Kind::kPlain;
  bool is_in_segment_ = false;
  bool is_first_ = true;     // no FPDU before the present one
  bool is_reading_ = false;  // within read(), which gives the buffer back itself
  bool is_drained_ = false;
  std::optional<TerminateCode> fault_;
  std::uint16_t ulpdu_length_ = 0;
  SegmentShape shape_{};
  Segment segment_{};
  std::array<std::byte, kMaxHeadSize> head_{};
  std::size_t payload_left_ = 0;
  std::size_t trailer_left_ = 0;  // all of the trailer, or nothing
  bool owes_place_ = false;       // an empty message asks for its place once
  Progress tagged_;
  Progress untagged_;
  std::uint64_t heard_ack_ = 0;
  std::array<std::uint32_t, kQueueCount> next_sequence_{1, 1, 1, 1};
  std::size_t read_ahead_ = BufferPool::kBufferSize;
};

}  // namespace softdat::transport::tcp
