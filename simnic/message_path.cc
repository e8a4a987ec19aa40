// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/message_path.h"

#include <utility>

#include "simnic/engine.h"

namespace softdat::simnic {

using transport::CloseMode;
using transport::ShortSends;

MessagePath::MessagePath(Engine& engine, const MemoryView& memory, const hca::QueuePairConfig& config,
                         const hca::QueuePairLimits& limits, const std::atomic<hca::QueuePairState>& state,
                         ReceivePosts& recvs, hca::TransferCounters& counters, Task& owner)
    : engine_(engine),
      state_(state),
      recv_limits_(recvs.limits()),
      owner_(owner),
      requester_(memory, send_feed_of(config), limits.send_wr, limits.send_sge, counters),
      responder_(memory, recv_feed_of(config), limits, {.posts = recvs, .starving = owner}, counters),
      outgoing_(requester_, responder_) {}

// `ord`: the smaller of what this side wants and the peer answers.
void MessagePath::begin(std::uint32_t ord, RnrPolicy rnr) {
  base::require_lock(locks::kBaton);
  requester_.begin(channel_->features(), ord);
  responder_.begin(takes_notes(), rnr);
  // What was lost when the last connection ended breaks no other one.
  static_cast<void>(requester_.completions().feed().take_loss());
  static_cast<void>(responder_.receives().feed().take_loss());
  short_sends_ = channel_->short_sends();
  // From here on posters may send with the lane alone, so revocations must await them.
  if (takes_posters()) engine_.list_lane(lane_);
}

// REQUIRES: the lane, too. The channel dies at the end of the section, because one of its calls may be on the stack.
void MessagePath::close(CloseMode mode) {
  base::require_lock(locks::kBaton);
  outgoing_.reset();
  end_short_sends();
  if (!channel_) return;
  channel_->close(mode);
  engine_.bury(std::move(channel_));
}

CloseMode MessagePath::send_last_ack() {
  base::require_lock(locks::kBaton);
  // A message is half in the channel, so nothing can follow it in order.
  if (!is_open() || !outgoing_.is_nothing()) return CloseMode::kAbrupt;
  const auto count = responder_.acks().unacknowledged();
  if (!count) return CloseMode::kOrderly;
  const transport::Message ack{
      .opcode = transport::Opcode::kNote, .note = transport::NoteKind::kAck, .note_value = *count};
  return channel_->send(ack, nullptr) == transport::SendResult::kDone ? CloseMode::kOrderly : CloseMode::kAbrupt;
}

void MessagePath::flush(const Fault& blame, std::optional<std::uint64_t> culprit) {
  requester_.sent().flush(blame.blamed_send, culprit);
  responder_.receives().flush(blame.blamed_recv);
}

void MessagePath::end_short_sends() {
  if (takes_posters()) engine_.strike_lane(lane_);
  short_sends_ = ShortSends::kNone;
}

// Sends the next request in the queue if it is a short send. REQUIRES: is_plain_. False: nothing was sent, and
// Outgoing::choose() decides what goes next.
bool MessagePath::send_short() {
  transport::ShortSend short_send;
  if (!requester_.next_short_send(short_send) || !give_short(short_send)) return false;
  requester_.sent().on_short_send_taken();
  if (!responder_.is_waiting()) engine_.forgo_next_turn(owner_);
  return true;
}

// Adds the ack, if one is owed. REQUIRES: the lane, and is_plain_; and the baton, unless takes_posters(). False:
// nothing was sent, because the channel has no room, or because it is watched.
bool MessagePath::give_short(transport::ShortSend& short_send) {
  short_send.acked = responder_.acks().unacknowledged();
  if (!channel_->send_short(short_send)) return false;
  if (short_send.acked) responder_.acks().on_acknowledged(*short_send.acked);
  outgoing_.note_request();
  return true;
}

std::optional<MessagePath::SendFault> MessagePath::pump() {
  std::optional<SendFault> fault;
  bool has_sent = false;
  while (is_open() && !outgoing_.is_blocked()) {
    if (is_plain_ && send_short()) {
      has_sent = has_sent || !takes_posters();
      if (requester_.is_waiting() || responder_.is_waiting()) continue;
      break;
    }
    if (outgoing_.is_nothing()) {
      if (!outgoing_.choose()) {
        // The oldest read of the peer cannot be answered any more.
        if (outgoing_.has_refused()) fault = SendFault{{.code = read_refusal(outgoing_.take_refusal())}, false};
        break;
      }
    } else if ((fault = check_resumed())) {
      break;
    }
    has_sent = true;
    const bool may_go_on = give(fault);
    is_plain_ = false;  // until the end of this Entry
    if (!may_go_on) break;
  }
  const bool may_flush = !fault || !fault->is_final;
  if (has_sent && may_flush && channel_) channel_->flush();
  return fault;
}

// False: `fault` says why the connection cannot go on as it does.
bool MessagePath::give(std::optional<SendFault>& fault) {
  base::require_lock(locks::kBaton);
  const bool is_ack = outgoing_.is_ack();
  const Outgoing::Given given = outgoing_.give(*channel_);
  if (given == Outgoing::Given::kRefused || given == Outgoing::Given::kBroken) {
    fault = SendFault{{.code = read_refusal(AccessError::kBadKey)}, given == Outgoing::Given::kBroken};
    return false;
  }
  // An acknowledgement alone: there was nothing else to put off.
  if (is_ack && given == Outgoing::Given::kTaken) engine_.forgo_next_turn(owner_);
  return true;
}

// A message half in the channel must go on; if its memory has been taken away meanwhile, only the connection's end is
// left.
std::optional<MessagePath::SendFault> MessagePath::check_resumed() {
  const AccessError fault = outgoing_.check_memory();
  if (fault == AccessError::kNone) return std::nullopt;
  if (outgoing_.is_request()) return SendFault{local_fault(), true, requester_.sent().current()};
  responder_.reads().note_failure();
  return SendFault{{.code = read_refusal(fault)}, true};
}

// True while only short sends and acks are under way: then a poster needs no other state than the lane guards.
bool MessagePath::is_plain_now() const {
  if (short_sends_ == ShortSends::kNone || state_.load(std::memory_order_seq_cst) != hca::QueuePairState::kConnected)
    return false;
  return outgoing_.is_free() && !outgoing_.objection() && !recv_limits_.is_set() && requester_.is_plain() &&
         responder_.is_plain();
}

}  // namespace softdat::simnic
