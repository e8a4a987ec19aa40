// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/record.h"

#include <concepts>
#include <cstring>

#include "base/assert.h"

namespace softdat::transport::shm {
namespace {

constexpr std::uint64_t two(std::uint32_t low, std::uint32_t high) {
  return low | static_cast<std::uint64_t>(high) << 32;
}
constexpr std::uint32_t low(std::uint64_t word) {
  return static_cast<std::uint32_t>(word);
}
constexpr std::uint32_t high(std::uint64_t word) {
  return static_cast<std::uint32_t>(word >> 32);
}

// Words of the head after the one with opcode and length; nothing for what is no message.
// kTerminate travels as a record of its own kind, not as a message.
constexpr std::optional<std::size_t> extra_words(Opcode opcode) {
  switch (opcode) {
    case Opcode::kSend:
    case Opcode::kSendSolicited:
    case Opcode::kSendPlaced:
    case Opcode::kSendPlacedSolicited:
      return 0;
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicitedInvalidate:
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
    case Opcode::kNote:
      return 1;
    case Opcode::kWrite:
    case Opcode::kReadResponse:
    case Opcode::kAtomicResponse:
      return 2;
    case Opcode::kReadRequest:
      return 3;
    case Opcode::kAtomicRequest:
      return 7;
    case Opcode::kTerminate:
      break;
  }
  return {};
}

// The opcode and the note are the peer's bytes: values outside the enumerations are refused here, once.
bool is_known_note(const Message& message) {
  return message.opcode != Opcode::kNote || (message.note >= NoteKind::kAck && message.note <= kLastNote);
}

// Which words an opcode has is counted in extra_words(); encode_extra() is the mirror of this.
void decode_extra(const std::array<std::uint64_t, MessageHead::kMostWords>& words, Message& into) {
  switch (into.opcode) {
    case Opcode::kSend:
    case Opcode::kSendSolicited:
    case Opcode::kSendPlaced:
    case Opcode::kSendPlacedSolicited:
    case Opcode::kTerminate:
      return;
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicitedInvalidate:
      into.stag = low(words[1]);
      return;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      into.operand = words[1];
      return;
    case Opcode::kNote:
      into.note_value = words[1];
      return;
    case Opcode::kWrite:
    case Opcode::kReadResponse:
      into.stag = low(words[1]);
      into.offset = words[2];
      return;
    case Opcode::kAtomicResponse:
      into.request_id = low(words[1]);
      into.operand = words[2];
      return;
    case Opcode::kReadRequest:
      into.stag = low(words[1]);
      into.source_stag = high(words[1]);
      into.offset = words[2];
      into.source_offset = words[3];
      return;
    case Opcode::kAtomicRequest:
      into.source_stag = low(words[1]);
      into.request_id = high(words[1]);
      into.source_offset = words[2];
      into.atomic_code = low(words[3]);
      into.operand = words[4];
      into.operand_mask = words[5];
      into.compare = words[6];
      into.compare_mask = words[7];
      return;
  }
}

void encode_extra(const Message& message, std::array<std::uint64_t, MessageHead::kMostWords>& to) {
  switch (message.opcode) {
    case Opcode::kSend:
    case Opcode::kSendSolicited:
    case Opcode::kSendPlaced:
    case Opcode::kSendPlacedSolicited:
    case Opcode::kTerminate:
      return;
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicitedInvalidate:
      to[1] = message.stag;
      return;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
      to[1] = message.operand;
      return;
    case Opcode::kNote:
      to[1] = message.note_value;
      return;
    case Opcode::kWrite:
    case Opcode::kReadResponse:
      to[1] = message.stag;
      to[2] = message.offset;
      return;
    case Opcode::kAtomicResponse:
      to[1] = message.request_id;
      to[2] = message.operand;
      return;
    case Opcode::kReadRequest:
      to[1] = two(message.stag, message.source_stag);
      to[2] = message.offset;
      to[3] = message.source_offset;
      return;
    case Opcode::kAtomicRequest:
      to[1] = two(message.source_stag, message.request_id);
      to[2] = message.source_offset;
      to[3] = message.atomic_code;
      to[4] = message.operand;
      to[5] = message.operand_mask;
      to[6] = message.compare;
      to[7] = message.compare_mask;
      return;
  }
}

// Appends and takes off plain numbers.
class Packer {
 public:
  // The room suffices for an offer with some private data.
  Packer() { bytes_.reserve(128); }
  template <std::unsigned_integral T>
  void put(T value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }
  void put_rest(std::span<const std::byte> data) {
    base::check(data.size() <= kMaxPrivateData, "private data fits an offer", data.size());
    bytes_.insert(bytes_.end(), data.begin(), data.end());
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> from) : from_(from) {}
  template <std::unsigned_integral T>
  T get() {
    T value = 0;
    // A short record yields zeros and is refused as a whole at the end (is_good).
    if (from_.size() < sizeof value) {
      is_short_ = true;
      return value;
    }
    std::memcpy(&value, from_.data(), sizeof value);
    from_ = from_.subspan(sizeof value);
    return value;
  }
  Bytes get_rest() {
    if (from_.size() > kMaxPrivateData) is_short_ = true;
    return is_short_ ? Bytes{} : Bytes(from_.begin(), from_.end());
  }
  bool is_good() const { return !is_short_; }

 private:
  std::span<const std::byte> from_;
  bool is_short_ = false;
};

}  // namespace

// The first word is enough for a plain send: opcode, acks that ride along, length.
MessageHead encode_head(const Message& message, std::uint16_t acks) {
  const auto extra = extra_words(message.opcode);
  base::check(extra.has_value(), "this opcode travels as a message", static_cast<std::uint64_t>(message.opcode));
  MessageHead head;
  head.count = 1 + *extra;
  head.words[0] =
      pack(HeadWord{.opcode = message.opcode, .note = message.note, .acks = acks, .length = message.length});
  encode_extra(message, head.words);
  return head;
}

std::optional<HeadNotes> decode_head(std::span<const std::byte> from, Message& message) {
  if (from.size() < kWordBytes) return std::nullopt;
  std::uint64_t first = 0;
  std::memcpy(&first, from.data(), sizeof first);
  const HeadWord word = unpack_head(first);
  message.begin(word.opcode, word.length);
  message.note = word.note;
  const auto extra = extra_words(message.opcode);
  const HeadNotes notes{.acks = word.acks, .bytes = (1 + extra.value_or(0)) * kWordBytes};
  if (!extra || !is_known_note(message) || from.size() < notes.bytes) return std::nullopt;
  if (*extra > 0) {
    std::array<std::uint64_t, MessageHead::kMostWords> words{first};
    std::memcpy(&words[1], from.data() + kWordBytes, *extra * kWordBytes);
    decode_extra(words, message);
  }
  return notes;
}

Bytes encode_offer(const Offer& offer) {
  Packer packer;
  packer.put(offer.address.ipv4);
  for (const std::uint8_t byte : offer.address.ipv6.bytes) packer.put(byte);
  packer.put(offer.address.ipv6.scope);
  packer.put(std::uint32_t{offer.address.port});
  packer.put(offer.service_id);
  packer.put(offer.features);
  packer.put(offer.ird);
  packer.put(offer.ord);
  // The receiver reaches the sender's memory through this QP entry (decision 7).
  packer.put(offer.direct_qp_entry);
  packer.put(offer.direct_connection);
  packer.put(offer.direct_receives);
  packer.put_rest(offer.private_data);
  return packer.take();
}

// Plain numbers in the machine's order: both processes run on one host.
std::optional<Offer> decode_offer(std::span<const std::byte> from) {
  Unpacker unpacker(from);
  Offer offer;
  offer.address.ipv4 = unpacker.get<std::uint32_t>();
  for (std::uint8_t& byte : offer.address.ipv6.bytes) byte = unpacker.get<std::uint8_t>();
  offer.address.ipv6.scope = unpacker.get<std::uint32_t>();
  offer.address.port = static_cast<std::uint16_t>(unpacker.get<std::uint32_t>());
  offer.service_id = unpacker.get<std::uint64_t>();
  offer.features = unpacker.get<std::uint32_t>();
  offer.ird = unpacker.get<std::uint32_t>();
  offer.ord = unpacker.get<std::uint32_t>();
  offer.direct_qp_entry = unpacker.get<std::uint32_t>();
  offer.direct_connection = unpacker.get<std::uint64_t>();
  offer.direct_receives = unpacker.get<std::uint64_t>();
  offer.private_data = unpacker.get_rest();
  return unpacker.is_good() ? std::optional(std::move(offer)) : std::nullopt;
}

Bytes encode_refusal(const RefusalNotice& notice) {
  Packer packer;
  packer.put(static_cast<std::uint8_t>(notice.reason));
  packer.put(static_cast<std::uint8_t>(notice.is_stale));
  packer.put_rest(notice.private_data);
  return packer.take();
}

BareRefusal encode_bare_refusal(Refusal reason, bool is_stale) {
  return {static_cast<std::byte>(reason), static_cast<std::byte>(is_stale)};
}

std::optional<RefusalNotice> decode_refusal(std::span<const std::byte> from) {
  Unpacker unpacker(from);
  RefusalNotice notice;
  const auto reason = unpacker.get<std::uint8_t>();
  notice.reason = static_cast<Refusal>(reason);
  notice.is_stale = unpacker.get<std::uint8_t>() != 0;
  notice.private_data = unpacker.get_rest();
  const bool is_known = reason <= static_cast<std::uint8_t>(Refusal::kBusy);
  return unpacker.is_good() && is_known ? std::optional(std::move(notice)) : std::nullopt;
}

TerminateBytes encode_terminate(const TerminateCode& code) {
  return {std::byte{code.layer}, std::byte{code.type}, std::byte{code.code}};
}

std::optional<TerminateCode> decode_terminate(std::span<const std::byte> from) {
  Unpacker unpacker(from);
  TerminateCode code;
  code.layer = unpacker.get<std::uint8_t>();
  code.type = unpacker.get<std::uint8_t>();
  code.code = unpacker.get<std::uint8_t>();
  return unpacker.is_good() ? std::optional(code) : std::nullopt;
}

}  // namespace softdat::transport::shm
