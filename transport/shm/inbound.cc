// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/inbound.h"

#include <utility>

#include "base/assert.h"
#include "transport/copy_to_places.h"

namespace softdat::transport::shm {

// Stands on the stack while a sink is being called, and tells whether the channel survived.
class Inbound::Survival {
 public:
  explicit Survival(Inbound& inbound) : inbound_(&inbound), outer_(std::exchange(inbound.survival_, this)) {}
  ~Survival() {
    if (inbound_ != nullptr) inbound_->survival_ = outer_;
  }
  Survival(const Survival&) = delete;
  Survival& operator=(const Survival&) = delete;

  bool is_open() const { return inbound_ != nullptr && inbound_->status_.is_open(); }
  void mark_destroyed() {
    inbound_ = nullptr;
    if (outer_ != nullptr) outer_->mark_destroyed();
  }

 private:
  Inbound* inbound_;
  Survival* outer_;
};

// Destroyed within a call of the sink: the frames on the stack must not touch the channel again.
Inbound::~Inbound() {
  if (survival_ != nullptr) survival_->mark_destroyed();
}

bool Inbound::on_payload(RecordKind kind, std::span<const std::byte> bytes) {
  if (!status_.is_open()) return false;
  const bool is_first = kind == RecordKind::kMessage;
  // A new message within another one, or a rest without its beginning: the peer breaks the protocol.
  if (is_first == is_mid_message_) return false;
  std::uint16_t acks = 0;
  if (is_first && !begin_message(bytes, acks)) return false;
  if (acks != 0 && !hear_acks(acks)) return true;
  const std::uint64_t total = payload_length(current_);
  if (bytes.size() > total - placed_ || (bytes.empty() && total > 0)) return false;
  if (carries_payload(current_.opcode) && !place(bytes)) return true;
  if (placed_ < total) return true;
  is_mid_message_ = false;
  if (current_.opcode == Opcode::kNote && current_.note == NoteKind::kAck) heard_ = current_.note_value;
  status_.sink->on_message(current_);
  return true;
}

// The acks that a message brings were sent before it. False: the sink has closed the channel.
bool Inbound::hear_acks(std::uint16_t acks) {
  const Survival survival(*this);
  heard_ += acks;
  status_.sink->on_message({.opcode = Opcode::kNote, .note = NoteKind::kAck, .note_value = heard_});
  return survival.is_open();
}

// Takes the head off.
bool Inbound::begin_message(std::span<const std::byte>& bytes, std::uint16_t& acks) {
  const auto head = decode_head(bytes, current_);
  if (!head) return false;
  bytes = bytes.subspan(head->bytes);
  placed_ = 0;
  is_mid_message_ = true;
  acks = head->acks;
  return true;
}

// Moves the bytes to where the sink wants them. False when the sink closed the channel.
bool Inbound::place(std::span<const std::byte> bytes) {
  const bool tagged = is_tagged(current_.opcode);
  const Survival survival(*this);
  do {
    const Arrival arrival{.opcode = current_.opcode,
                          .first = placed_ == 0,
                          .stag = tagged ? current_.stag : 0,
                          .offset = tagged ? current_.offset + placed_ : 0,
                          .message_offset = placed_,
                          .length = bytes.size()};
    SliceList slices;
    const Placement placement = status_.sink->place(arrival, slices);
    if (!survival.is_open()) return false;
    std::size_t done = placement == Placement::kDiscard ? bytes.size() : 0;
    // The receiver's memory has gone. The sink is told, and asked again where the bytes go; it then discards them.
    if (!copy_to_places(slices, bytes, done)) {
      status_.sink->on_fault(arrival);
      if (!survival.is_open()) return false;
      continue;
    }
    base::check(done > 0 || bytes.empty(), "a placement covers at least one byte");
    placed_ += done;
    bytes = bytes.subspan(done);
  } while (!bytes.empty());
  return true;
}

}  // namespace softdat::transport::shm
