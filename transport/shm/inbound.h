// SPDX-License-Identifier: BSD-2-Clause
// Inbound: what one channel receives: puts the records of a message together, and hands it to the channel's sink. A
// part of its channel; REQUIRES the baton.
//
// The sink may end or destroy the channel within any call but on_short_send(). Nothing of the channel is used after
// that.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "transport/channel.h"
#include "transport/shm/record.h"

namespace softdat::transport::shm {

enum class ChannelState : std::uint8_t {
  kContacting,  // no link to the peer yet
  kConnecting,  // asked, not answered
  kAccepting,   // answered, not confirmed
  kOpen,
  kClosed,  // its sink hears nothing more
};

// The sink that a channel tells, and the state of the channel.
struct ChannelStatus {
  ChannelSink* sink;  // null: hears nothing more
  ChannelState state = ChannelState::kContacting;

  bool is_open() const { return state == ChannelState::kOpen; }
};

class Inbound {
 public:
  // `status`: of the channel. It outlives this.
  explicit Inbound(ChannelStatus& status) : status_(status) {}
  ~Inbound();
  Inbound(const Inbound&) = delete;
  Inbound& operator=(const Inbound&) = delete;

  // A record of a message. False: the peer had no right to it now.
  bool on_payload(RecordKind kind, std::span<const std::byte> bytes);
  // A kMessage that is a short send. False, and nothing was done: it is none, or it cannot be taken this way now.
  bool take_short_send(std::span<const std::byte> bytes) {
    if (!status_.is_open() || is_mid_message_ || bytes.size() < kWordBytes) return false;
    std::uint64_t first = 0;
    std::memcpy(&first, bytes.data(), sizeof first);
    const HeadWord head = unpack_head(first);
    bytes = bytes.subspan(kWordBytes);
    const bool is_send = head.opcode == Opcode::kSend || head.opcode == Opcode::kSendSolicited;
    if (!is_send || head.length != bytes.size()) return false;
    ShortSend short_send{.opcode = head.opcode, .payload = bytes};
    if (head.acks != 0) short_send.acked = heard_ + head.acks;
    if (!status_.sink->on_short_send(short_send)) return false;
    heard_ += head.acks;
    return true;
  }

 private:
  class Survival;

  bool begin_message(std::span<const std::byte>& bytes, std::uint16_t& acks);
  bool hear_acks(std::uint16_t acks);
  bool place(std::span<const std::byte> bytes);

  ChannelStatus& status_;
  bool is_mid_message_ = false;  // the beginning of current_ has arrived
  std::uint64_t placed_ = 0;     // of current_
  Message current_;
  std::uint64_t heard_ = 0;  // the peer's last ack
  Survival* survival_ = nullptr;
};

}  // namespace softdat::transport::shm
