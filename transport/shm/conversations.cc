// SPDX-License-Identifier: BSD-2-Clause
// Conversations may begin and end within any call of a sink, so none is referred to after one.
#include "transport/shm/conversations.h"

#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "base/assert.h"
#include "transport/shm/carrier_parts.h"
#include "transport/shm/link.h"
#include "transport/shm/shm_port.h"
#include "transport/shm/shm_request.h"

namespace softdat::transport::shm {
namespace {

// Records of one number that wait for room: a question or answer, a confirmation, an ack and a final record, and as
// many of the conversation that had the number before.
constexpr std::size_t kMostWaiting = 8;

// Out of memory, the refusal comes without its private data.
std::optional<RefusalNotice> decode_refusal_if_possible(std::span<const std::byte> bytes) try {
  return decode_refusal(bytes);
} catch (const std::bad_alloc&) {
  return decode_refusal(bytes.first(std::tuple_size_v<BareRefusal>));
}

}  // namespace

// No number, or a link that ends: the channel hears so in the next turn, because no sink is called within connect().
void Conversations::open(ShmChannel& channel) {
  const Bytes offer = encode_offer(channel.opening().question()->offer);
  const std::uint32_t number = link_.ending().is_due() ? ConversationTable::kNone : table_.begin_own();
  if (number == ConversationTable::kNone) return carrier_.refusals.add(channel, Refusal::kUnreachable);
  table_.find(number)->channel = &channel;
  channel.join(link_, number, ChannelState::kConnecting);
  link_.writer().post(RecordKind::kConnect, number, offer);
  link_.writer().flush();
}

void Conversations::accept(std::uint32_t number, ShmChannel& channel, const Bytes& reply) {
  Conversation& conversation = *table_.find(number);
  conversation.request = nullptr;
  conversation.channel = &channel;
  channel.join(link_, number, ChannelState::kAccepting);
  link_.writer().post(RecordKind::kAccept, number, reply);
  link_.writer().flush();
}

// Each side says one final record for each conversation; the number is free when both have.
void Conversations::finish(std::uint32_t number, RecordKind kind, std::span<const std::byte> bytes) {
  Conversation* conversation = table_.find(number);
  base::check(conversation != nullptr && !conversation->has_sent_final, "one last word", number);
  conversation->channel = nullptr;
  conversation->request = nullptr;
  conversation->has_sent_final = true;
  link_.writer().post(kind, number, bytes);
  table_.end_if_over(number);
  // A peer that ends conversations, begins them anew and reads nothing would have us keep ever more records.
  if (link_.writer().count_waiting() > kMostWaiting * table_.size()) link_.ending().break_down();
  link_.writer().flush();
}

bool Conversations::deliver(const RecordWord& word, std::span<const std::byte> bytes) {
  if (word.kind == RecordKind::kConnect) return deliver_connect(word.channel, bytes);
  Conversation* conversation = table_.find(word.channel);
  // The peer spoke after its own final record, or of a conversation that never began: that breaks the link.
  if (conversation == nullptr || conversation->has_got_final) return false;
  ShmChannel* channel = conversation->channel;
  switch (word.kind) {
    case RecordKind::kMessage:
    case RecordKind::kMore:
      // A conversation that we have ended still gets what the peer sent before it knew.
      if (channel == nullptr) return conversation->has_sent_final;
      return channel->inbound().on_payload(word.kind, bytes);
    case RecordKind::kAccept:
      return deliver_accept(word.channel, bytes);
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

bool Conversations::deliver_connect(std::uint32_t number, std::span<const std::byte> bytes) try {
  if (!table_.begin_theirs(number)) return false;
  const auto offer = decode_offer(bytes);
  if (!offer) return false;
  ShmPort* port = carrier_.ports.find(offer->service_id);
  // `is_stale` tells the peer that its memory of this service is out of date: it asks the rendezvous again.
  if (port == nullptr || port->is_full()) {
    const Refusal reason = port == nullptr ? Refusal::kNoListener : Refusal::kBusy;
    finish(number, RecordKind::kRefuse, encode_bare_refusal(reason, port == nullptr));
    return true;
  }
  auto request = std::make_unique<ShmRequest>(carrier_, link_, number, *offer, port->unanswered());
  table_.find(number)->request = request.get();
  port->sink().on_request(std::move(request));
  return true;
} catch (const std::bad_alloc&) {
  return refuse_unheard(number);
}

// Out of memory: refuses the request, unless its destructor has. False: the request could not even be noted, and cannot
// be answered.
bool Conversations::refuse_unheard(std::uint32_t number) {
  const Conversation* conversation = table_.find(number);
  if (conversation == nullptr) return false;
  if (!conversation->has_sent_final) finish(number, RecordKind::kRefuse, encode_bare_refusal(Refusal::kBusy, false));
  return true;
}

// Out of memory for the peer's answer: the connection ends before it has begun.
bool Conversations::abandon_unheard(std::uint32_t number) {
  Conversation& conversation = *table_.find(number);
  ShmChannel* const channel = detach(conversation);
  if (!conversation.has_sent_final) finish(number, RecordKind::kBye, {});
  if (channel != nullptr) channel->on_end(CloseReason::kLost, {}, Refusal::kUnreachable);
  return true;
}

bool Conversations::deliver_accept(std::uint32_t number, std::span<const std::byte> bytes) {
  std::optional<Offer> reply;
  try {
    reply = decode_offer(bytes);
  } catch (const std::bad_alloc&) {
    return abandon_unheard(number);
  }
  if (!reply) return false;
  const Conversation& conversation = *table_.find(number);
  ShmChannel* channel = conversation.channel;
  if (channel == nullptr) return conversation.has_sent_final;
  if (channel->state() != ChannelState::kConnecting) return false;
  // Ahead of anything that the sink sends from on_established().
  link_.writer().post(RecordKind::kConfirm, number, {});
  return channel->on_accept(*reply);
}

bool Conversations::deliver_final(const RecordWord& word, std::span<const std::byte> bytes) {
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
  const auto notice = decode_refusal_if_possible(bytes);
  if (!notice) return false;
  ShmChannel* channel = table_.find(word.channel)->channel;
  // Only an initiator that waits can be refused.
  if (channel != nullptr && channel->state() != ChannelState::kConnecting) return false;
  if (channel != nullptr) {
    channel->leave();
    table_.find(word.channel)->channel = nullptr;
  }
  if (!conclude(word.channel, CloseReason::kLost, {})) return false;
  if (channel != nullptr) carrier_.introductions.on_refused(*channel, link_, *notice);
  return true;
}

// The peer's last word: ours follows, if it has not been said, and the number is free.
bool Conversations::conclude(std::uint32_t number, CloseReason reason, const TerminateCode& code) {
  Conversation& conversation = *table_.find(number);
  // Before any sink is called: within that call the number may end and begin anew.
  conversation.has_got_final = true;
  ShmChannel* const channel = detach(conversation);
  if (conversation.has_sent_final) {
    table_.end_if_over(number);
  } else {
    finish(number, RecordKind::kBye, {});
  }
  if (channel != nullptr) channel->on_end(reason, code, Refusal::kUnreachable);
  return true;
}

void Conversations::end_all(CloseReason reason, const TerminateCode& code, Refusal refusal) {
  table_.for_each([&](std::uint32_t number) {
    ShmChannel* const channel = detach(*table_.find(number));
    if (channel == nullptr) return;
    const bool is_unanswered = channel->state() == ChannelState::kConnecting && refusal == Refusal::kUnreachable;
    is_unanswered ? carrier_.introductions.on_link_lost(*channel) : channel->on_end(reason, code, refusal);
  });
}

// The link has nothing more to do with the channel or request. Returns the channel.
ShmChannel* Conversations::detach(Conversation& conversation) {
  ShmChannel* const channel = std::exchange(conversation.channel, nullptr);
  if (channel != nullptr) channel->leave();
  if (conversation.request != nullptr) std::exchange(conversation.request, nullptr)->on_peer_gone();
  return channel;
}

}  // namespace softdat::transport::shm
