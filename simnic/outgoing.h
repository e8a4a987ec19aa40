// SPDX-License-Identifier: BSD-2-Clause
// Outgoing: the message that the channel is being given, and the choice of the next one: a note, an answer to a read of
// the peer, or a request of this side. Responses and requests take turns. An ack goes before a request, or
// alone when nothing else does; a response makes it superfluous.
//
// Between calls of the queue pair something is outgoing only while the channel is blocked with it. Guarded by the queue
// pair's lane, and the baton but for note_request().
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "simnic/fault.h"
#include "simnic/memory_table.h"
#include "simnic/requester.h"
#include "simnic/responder.h"
#include "transport/channel.h"
#include "transport/message.h"

namespace softdat::simnic {

class Outgoing {
 public:
  // The outcome of give().
  enum class Given : std::uint8_t {
    kTaken,
    kWaits,    // the channel is blocked; or the memory of a request faults, which fails once those before it have
               // completed
    kRefused,  // the memory of a response faults, and nothing of it has been sent; those behind it have been dropped
    kBroken,   // the memory of a response faults, and a part of it has been sent: the connection cannot go on
  };

  // Both outlive it.
  Outgoing(Requester& requester, Responder& responder) : requester_(requester), responder_(responder) {}

  bool is_nothing() const { return kind_ == Kind::kNothing; }
  bool is_ack() const { return kind_ == Kind::kAck; }
  bool is_request() const { return kind_ == Kind::kRequest; }
  // The channel takes nothing until on_writable(). After a cut-off it takes nothing more.
  bool is_blocked() const { return is_blocked_; }
  // A request is half in the channel, and its memory faults.
  bool is_cut_off() const { return is_cut_off_; }
  // No message is under way, and the channel would take one.
  bool is_free() const { return is_nothing() && !is_blocked_; }

  // A request of the peer cannot be carried out. The peer is told after the acks and responses that it is owed. No
  // request follows.
  void object(const Fault& fault) { objection_ = fault; }
  const std::optional<Fault>& objection() const { return objection_; }

  // REQUIRES: is_nothing(). False: there is nothing to send, or has_refused().
  [[nodiscard]] bool choose();
  // The memory of the oldest response was not the peer's to read any more. This response and those behind it have been
  // dropped.
  bool has_refused() const { return refusal_ != AccessError::kNone; }
  AccessError take_refusal() { return std::exchange(refusal_, AccessError::kNone); }
  // Whether the memory of the message is still there to be sent. Anything but kNone: a message that is half in the
  // channel cannot go on.
  AccessError check_memory() const;
  // REQUIRES: not is_nothing(), nor is_blocked().
  Given give(transport::Channel& channel);
  void on_writable() { is_blocked_ = is_cut_off_; }

  // A request went by another way, so it is the turn of responses.
  void note_request() { was_response_ = false; }
  // The channel is gone.
  void reset() {
    kind_ = Kind::kNothing;
    is_blocked_ = is_cut_off_ = was_response_ = false;
    refusal_ = AccessError::kNone;
    objection_.reset();
  }

 private:
  enum class Kind : std::uint8_t { kNothing, kAck, kResend, kResent, kRequest, kResponse };

  bool choose_owed();
  bool choose_response();
  bool choose_note(Kind kind, transport::NoteKind note, std::uint64_t value);
  transport::PayloadSource* payload();
  void take();
  Given on_fault();
  Given on_fault_midway();

  Requester& requester_;
  Responder& responder_;
  Kind kind_ = Kind::kNothing;
  transport::Message message_{};  // kept for when the channel blocks
  AccessError refusal_ = AccessError::kNone;
  bool is_blocked_ = false;
  bool is_cut_off_ = false;
  bool was_response_ = false;  // the last payload sent, for fairness
  std::optional<Fault> objection_;
};

}  // namespace softdat::simnic
