// SPDX-License-Identifier: BSD-2-Clause
// Conversations: those of one link, from the first record of each to its last. It begins them for our channels and the
// peer's requests, carries out the peer's records, and says our last word on each.
//
// Every record is checked against the state of its conversation before anything is done. A record that its sender had
// no right to send ends the link. REQUIRES the baton. Owns neither channels nor requests.
#pragma once

#include <cstdint>
#include <span>

#include "transport/shm/conversation_table.h"
#include "transport/shm/record.h"
#include "transport/shm/shm_channel.h"

namespace softdat::transport::shm {

class Link;
struct CarrierParts;

class Conversations {
 public:
  // Both outlive it.
  Conversations(CarrierParts& carrier, Link& link, Side own) : carrier_(carrier), link_(link), table_(own) {}

  // Asks for a connection; the channel has its question. Refused later if the link cannot. Throws std::bad_alloc, and
  // nothing has begun then.
  void open(ShmChannel& channel);
  // Answers a request of this link, with an encoded offer. REQUIRES: the request is still there (ShmRequest::leave).
  void accept(std::uint32_t number, ShmChannel& channel, const Bytes& reply);
  // Our last word on a conversation. Its channel or request has left, or leaves now.
  void finish(std::uint32_t number, RecordKind kind, std::span<const std::byte> bytes);

  // The receiving part of an open conversation, for the fast path of short sends. Null: use deliver().
  Inbound* find_inbound(std::uint32_t number) {
    const Conversation* const conversation = table_.find(number);
    if (conversation == nullptr || conversation->channel == nullptr || conversation->has_got_final) return nullptr;
    return &conversation->channel->inbound();
  }
  // Carries out a record. False: the peer broke the protocol.
  bool deliver(const RecordWord& word, std::span<const std::byte> bytes);
  // The link has ended: each channel is told why, once.
  void end_all(CloseReason reason, const TerminateCode& code, Refusal refusal);

 private:
  // False: the peer broke the protocol.
  bool deliver_connect(std::uint32_t number, std::span<const std::byte> bytes);
  bool refuse_unheard(std::uint32_t number);
  bool deliver_accept(std::uint32_t number, std::span<const std::byte> bytes);
  bool abandon_unheard(std::uint32_t number);
  bool deliver_final(const RecordWord& word, std::span<const std::byte> bytes);
  bool conclude(std::uint32_t number, CloseReason reason, const TerminateCode& code);
  ShmChannel* detach(Conversation& conversation);

  CarrierParts& carrier_;
  Link& link_;
  ConversationTable table_;
};

}  // namespace softdat::transport::shm
