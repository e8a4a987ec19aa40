// SPDX-License-Identifier: BSD-2-Clause
// What a record does when it arrives. Every record is checked against the state of its conversation
// before anything is done; a record that its sender had no right to send breaks the link.
//
// Conversations may begin and end within any call of a sink, so none is referred to after one.
#include <utility>

#include "transport/shm/link.h"
#include "transport/shm/shm_carrier.h"
#include "transport/shm/shm_port.h"
#include "transport/shm/shm_request.h"

namespace softdat::transport::shm {

bool Link::deliver(const RecordWord& word, std::span<const std::byte> bytes) {
  if (word.kind == RecordKind::kConnect) return deliver_connect(word.channel, bytes);
  Conversation* conversation = conversations_.find(word.channel);
  if (conversation == nullptr || conversation->has_got_final) return false;
  ShmChannel* channel = conversation->channel;
  switch (word.kind) {
    case RecordKind::kMessage:
    case RecordKind::kMore:
      // A conversation that we have ended still gets what the peer sent before it knew.
      if (channel == nullptr) return conversation->has_sent_final;
      return channel->on_payload(word.kind, bytes);
    case RecordKind::kAccept:
      return deliver_accept(*conversation, bytes);
    case RecordKind::kConfirm:
      if (channel == nullptr) return conversation->has_sent_final;
      return channel->on_confirm();
    case RecordKind::kRefuse:
    case RecordKind::kBye:
    case RecordKind::kTerminate:
    case RecordKind::kFault:
      return deliver_final(word, bytes);
    case RecordKind::kConnect:
      break;
  }
  return false;
}

bool Link::deliver_connect(std::uint32_t number, std::span<const std::byte> bytes) {
  const auto offer = decode_offer(bytes);
  if (!offer || !conversations_.begin_theirs(number)) return false;
  ShmPort* port = carrier_.find_port(offer->service_id);
  if (port == nullptr || port->is_full()) {
    finish(number, RecordKind::kRefuse, encode_bare_refusal(Refusal::kNoListener, port == nullptr));
    return true;
  }
  auto request = std::make_unique<ShmRequest>(carrier_, *this, number, *offer, port->unanswered());
  conversations_.find(number)->request = request.get();
  port->sink().on_request(std::move(request));
  return true;
}

bool Link::deliver_accept(Conversation& conversation, std::span<const std::byte> bytes) {
  const auto reply = decode_offer(bytes);
  if (!reply) return false;
  ShmChannel* channel = conversation.channel;
  if (channel == nullptr) return conversation.has_sent_final;
  if (channel->state() != ChannelState::kConnecting) return false;
  // Ahead of anything that the sink sends from on_established().
  post(RecordKind::kConfirm, channel->number(), {});
  return channel->on_accept(*reply);
}

bool Link::deliver_final(const RecordWord& word, std::span<const std::byte> bytes) {
  switch (word.kind) {
    case RecordKind::kBye:
      return conclude(word.channel, CloseReason::kBye, {});
    case RecordKind::kFault:
      return conclude(word.channel, CloseReason::kLost, {});
    case RecordKind::kTerminate: {
      const auto code = decode_terminate(bytes);
      return code && conclude(word.channel, CloseReason::kTerminated, *code);
    }
    default:
      break;
  }
  const auto notice = decode_refusal(bytes);
  if (!notice) return false;
  ShmChannel* channel = conversations_.find(word.channel)->channel;
  if (channel != nullptr && channel->state() != ChannelState::kConnecting) return false;
  if (channel != nullptr) {
    channel->leave();
    conversations_.find(word.channel)->channel = nullptr;
  }
  if (!conclude(word.channel, CloseReason::kLost, {})) return false;
  if (channel != nullptr) carrier_.on_refused(*channel, *this, *notice);
  return true;
}

// The peer's last word: ours follows, if it has not been said, and the number is free.
bool Link::conclude(std::uint32_t number, CloseReason reason, const TerminateCode& code) {
  Conversation& conversation = *conversations_.find(number);
  conversation.has_got_final = true;
  ShmChannel* channel = nullptr;
  detach(conversation, channel);
  if (conversation.has_sent_final) {
    conversations_.end_if_over(number);
  } else {
    finish(number, RecordKind::kBye, {});
  }
  if (channel != nullptr) channel->on_end(reason, code, Refusal::kUnreachable);
  return true;
}

}  // namespace softdat::transport::shm
