// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/outbound.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/byte_order.h"
#include "base/ordered_copy.h"
#include "transport/tcp/crc32c.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/fpdu_head.h"
#include "transport/tcp/note.h"

namespace softdat::transport::tcp {
namespace {

// Up to here copying costs less than a system call of its own.
constexpr std::size_t kCopyLimit = 8192;
// Encoded FPDUs leave by themselves when so much has gathered.
constexpr std::size_t kPartUnit = 64;
constexpr std::size_t kBatchLimit = std::size_t{32} << 10;
// What one call of send() moves at most, so that one channel cannot hold the baton.
constexpr std::size_t kSendBudget = std::size_t{2} << 20;
static_assert(kBatchLimit + kMaxFpdu + 256 <= BufferPool::kBufferSize, "control messages always fit");

// Whether `again` is the message that was taken in part.
bool is_same(const Message& message, const Message& again) {
  return message.opcode == again.opcode && message.length == again.length && message.stag == again.stag &&
         message.offset == again.offset;
}

bool copy_slice(std::span<const std::byte> slice, std::byte* to, std::uint32_t* crc) {
  if (crc == nullptr) return base::copy_in(to, slice.data(), slice.size());
  const auto sum = copy_crc32c(*crc, to, slice);
  if (sum) *crc = *sum;
  return sum.has_value();
}

// The gathered bytes are copied at once, so that what the CRC covers is what is sent. `crc`: goes on over them.
bool copy_payload(PayloadSource* payload, std::uint64_t offset, std::size_t length, std::byte* to, std::uint32_t* crc) {
  std::size_t done = 0;
  while (done < length) {
    SliceList slices;
    if (!payload->gather(offset + done, length - done, slices)) return false;
    const std::size_t before = done;
    for (const Slice& slice : slices.slices()) {
      const std::size_t part = std::min(slice.length, length - done);
      if (!copy_slice({slice.data, part}, to + done, crc)) return false;
      done += part;
    }
    base::check(done > before, "a gather covers at least one byte");
  }
  return true;
}

void store_little_endian(std::byte* to, std::uint32_t value) {
  for (std::size_t i = 0; i < sizeof value; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}

}  // namespace

// What waits in the buffer goes out before the socket takes a part of an FPDU from where it lies.
void Outbound::check_border() const {
  SOFTDAT_DEBUG_CHECK(is_at_border() || pending_.empty(), "nothing waits before an FPDU that the socket has in part",
                      position_, pending_.size());
}

// Equal parts, nearly: a small one at the end would cost its receiver as much as a large one.
std::size_t Outbound::part_at(const Message& message, std::uint32_t taken) const {
  const std::size_t most = rules_.max_ulpdu - ddp_size_of(message.opcode);
  const std::size_t total = payload_length(message);
  SOFTDAT_DEBUG_CHECK(taken <= total, "a message has the bytes that were taken of it", taken, total);
  if (total <= most) return total - taken;
  const std::size_t parts = (total + most - 1) / most;
  const std::size_t even = (total + parts - 1) / parts;
  return std::min({total - taken, most, even + (kPartUnit - even % kPartUnit) % kPartUnit});
}

std::size_t Outbound::ulpdu_size(const Message& message, std::size_t payload) {
  return ddp_size_of(message.opcode) + row_of(message.opcode).body_size + payload;
}

std::size_t Outbound::encode_head(const Message& message, std::uint32_t taken, std::size_t payload,
                                  std::byte* to) const {
  SOFTDAT_DEBUG_CHECK(static_cast<std::size_t>(message.opcode) < kOpcodeTable.size() && row_of(message.opcode).is_known,
                      "only opcodes of the wire have a head", static_cast<std::uint64_t>(message.opcode));
  const std::uint32_t sequence = next_sequence_[row_of(message.opcode).queue];
  return encode_fpdu_head(message, taken, payload, sequence, rules_.knows_notes, to);
}

Outbound::Head Outbound::make_head(const Message& message, std::uint32_t taken, std::size_t payload) const {
  Head head;
  head.size = encode_head(message, taken, payload, head.bytes.data());
  return head;
}

bool Outbound::goes_direct(const Message& message) const {
  return payload_length(message) > kCopyLimit && !rules_.has_crc && !rules_.is_one_by_one && !damage_;
}

WriteStatus Outbound::send(int fd, const Message& message, PayloadSource* payload) {
  base::check(!is_in_message_ || is_same(message_, message), "a message taken in part comes again", taken_);
  check_border();
  SOFTDAT_DEBUG_CHECK(is_in_message_ || (is_at_border() && taken_ == 0), "a message taken in part is under way",
                      position_, taken_);
  if (message.opcode == Opcode::kNote) {
    base::check(rules_.knows_notes, "notes go to those who know them");
    if (message.note == NoteKind::kAck && can_ride(message.note_value)) {
      waiting_ack_ = message.note_value;
      return WriteStatus::kDone;
    }
    const WriteStatus room = make_room(fd, kMaxHead);
    if (room == WriteStatus::kDone) append_note(message.note, message.note_value);
    return room;
  }
  if (waiting_ack_ && !takes_ack(message)) {
    const WriteStatus room = make_room(fd, kMaxHead);
    if (room != WriteStatus::kDone) return room;
    if (waiting_ack_) append_waiting_ack();  // a flush that made room has taken it
  }
  return goes_direct(message) ? send_direct(fd, message, payload) : send_copied(fd, message, payload);
}

WriteStatus Outbound::note_error(int error) {
  error_ = error;
  return WriteStatus::kLost;
}

bool Outbound::is_ended_by_peer() const {
  return error_ == EPIPE || error_ == ECONNRESET;
}

WriteStatus Outbound::make_room(int fd, std::size_t size) {
  const auto has_room = [&] {
    if (rules_.is_one_by_one) return pending_.empty();
    return pending_.size() < kBatchLimit && pending_.free_space() >= size;
  };
  if (!has_room()) {
    const WriteStatus status = flush(fd);
    if (status != WriteStatus::kDone && (status != WriteStatus::kBlocked || !has_room())) return status;
  }
  // Without memory nothing can be said any more.
  return pending_.borrow() ? WriteStatus::kDone : WriteStatus::kLost;
}

WriteStatus Outbound::send_copied(int fd, const Message& message, PayloadSource* payload) {
  const std::size_t total = payload_length(message);
  for (std::size_t appended = 0;;) {
    if (appended >= kSendBudget) return WriteStatus::kYielded;
    const std::size_t part = part_at(message, taken_);
    const WriteStatus room = make_room(fd, fpdu_size(ulpdu_size(message, part)));
    if (room != WriteStatus::kDone) return room;
    if (!append_fpdu(message, payload, part)) return fault();
    appended += part;
    taken_ += static_cast<std::uint32_t>(part);
    const bool is_whole = taken_ == total;
    if (!is_whole) note_progress(message);
    if (rules_.is_one_by_one && flush(fd) == WriteStatus::kLost) return WriteStatus::kLost;
    if (is_whole) break;
  }
  finish_message(message);
  return WriteStatus::kDone;
}

// Its next `part` bytes of payload, for which there is room.
bool Outbound::append_fpdu(const Message& message, PayloadSource* payload, std::size_t part) {
  const std::size_t ulpdu = ulpdu_size(message, part);
  SOFTDAT_DEBUG_CHECK(is_at_border(), "an FPDU that is copied follows whole ones", position_);
  SOFTDAT_DEBUG_CHECK(fpdu_size(ulpdu) <= pending_.free_space(), "make_room() comes before the FPDU", ulpdu);
  std::byte* const at = pending_.room(fpdu_size(ulpdu)).data();
  const std::size_t head = encode_head(message, taken_, part, at);
  const bool carries_ack = waiting_ack_ && takes_ack(message);
  if (carries_ack) put_ack_into(at);
  std::uint32_t crc = rules_.has_crc ? crc32c(0, {at, head}) : 0;
  if (part > 0 && !copy_payload(payload, taken_, part, at + head, rules_.has_crc ? &crc : nullptr)) return false;
  seal(at, ulpdu, crc);
  if (damage_) [[unlikely]]
    carry_out_damage(at, head, part);
  pending_.commit(fpdu_size(ulpdu));
  if (carries_ack) told_ack_ = *std::exchange(waiting_ack_, std::nullopt);
  return true;
}

// The field of the header holds how many more requests have been carried out than the peer knows of.
bool Outbound::can_ride(std::uint64_t ack) const {
  return rules_.acks_ride && ack > told_ack_ && ack - told_ack_ <= std::numeric_limits<std::uint32_t>::max();
}

// Whether the next FPDU is the first of a plain send. One that goes direct may be built again after a partial write,
// and must be the same then.
bool Outbound::takes_ack(const Message& message) const {
  const bool is_send = message.opcode == Opcode::kSend || message.opcode == Opcode::kSendSolicited;
  return is_send && taken_ == 0 && !goes_direct(message);
}

// Into the field of the DDP header that only a send with invalidate uses.
void Outbound::put_ack_into(std::byte* fpdu) const {
  SOFTDAT_DEBUG_CHECK(can_ride(*waiting_ack_), "an ack that waits is newer than the last one, and fits the field",
                      *waiting_ack_, told_ack_);
  base::store_be(fpdu + kLengthSize + kAtStag, static_cast<std::uint32_t>(*waiting_ack_ - told_ack_));
}

void Outbound::append_waiting_ack() {
  append_note(NoteKind::kAck, *std::exchange(waiting_ack_, std::nullopt));
}

// The length of the FPDU stays as it is: a wrong one would only make the receiver wait.
void Outbound::carry_out_damage(std::byte* fpdu, std::size_t head, std::size_t part) {
  const auto mask = static_cast<std::byte>(1u << damage_->bit);
  if (damage_->is_header) {
    fpdu[kLengthSize + damage_->place % (head - kLengthSize)] ^= mask;
  } else if (damage_->place >= taken_ && damage_->place - taken_ < part) {
    fpdu[head + (damage_->place - taken_)] ^= mask;
  } else {
    return;
  }
  damage_.reset();
}

void Outbound::send_part(int fd, const Message& message, PayloadSource* payload) {
  const std::size_t part = part_at(message, taken_);
  if (!is_at_border() || make_room(fd, fpdu_size(ulpdu_size(message, part))) != WriteStatus::kDone) return;
  if (flush(fd) != WriteStatus::kDone || !pending_.borrow() || !append_fpdu(message, payload, part)) return;
  const auto bytes = pending_.bytes();
  static_cast<void>(!::send(fd, bytes.data(), bytes.size() / 2, MSG_NOSIGNAL | MSG_DONTWAIT));
}

// Padding and CRC behind a ULPDU that stands in its place; `crc` is of all before the padding.
void Outbound::seal(std::byte* fpdu, std::size_t ulpdu_length, std::uint32_t crc) const {
  std::byte* const padding = fpdu + kLengthSize + ulpdu_length;
  const std::size_t length = pad_of(ulpdu_length);
  std::memset(padding, 0, trailer_of(ulpdu_length));
  if (rules_.has_crc) store_little_endian(padding + length, crc32c(crc, {padding, length}));
}

void Outbound::append_raw(const Segment& segment, const std::byte* body, std::size_t size) {
  base::check(is_at_border(), "nothing comes between the parts of an FPDU", position_);
  if (!pending_.borrow()) return;
  const std::size_t most = kLengthSize + kUntaggedHeadSize + size + kMaxTrailer;
  SOFTDAT_DEBUG_CHECK(most <= pending_.free_space(), "control messages always have room", most, pending_.size());
  std::byte* const at = pending_.room(most).data();
  const std::size_t ddp = encode_segment(segment, at + kLengthSize);
  if (size > 0) std::memcpy(at + kLengthSize + ddp, body, size);
  base::store_be(at, static_cast<std::uint16_t>(ddp + size));
  seal(at, ddp + size, rules_.has_crc ? crc32c(0, {at, kLengthSize + ddp + size}) : 0);
  pending_.commit(fpdu_size(ddp + size));
}

void Outbound::append_note(NoteKind kind, std::uint64_t value) {
  if (waiting_ack_) append_waiting_ack();
  SOFTDAT_DEBUG_CHECK((value & ~kNoteValueMask) == 0, "the value of a note has 56 bits", value);
  if (kind == NoteKind::kAck) told_ack_ = value;
  append_raw({.opcode = Opcode::kWrite, .stag = kNoteStag, .offset = encode_note(kind, value)}, nullptr, 0);
}

void Outbound::append_ready_to_receive() {
  append_raw({.opcode = Opcode::kWrite, .stag = kNoteStag}, nullptr, 0);
}

void Outbound::append_terminate(const Terminate& terminate) {
  if (waiting_ack_) append_waiting_ack();
  std::byte body[kMaxTerminateSize];
  const std::size_t size = encode_terminate(terminate, body);
  append_raw({.opcode = Opcode::kTerminate, .queue = kTerminateQueue, .sequence = next_sequence_[kTerminateQueue]},
             body, size);
}

WriteStatus Outbound::flush(int fd) {
  check_border();
  if (waiting_ack_) {
    // The peer must not miss an ack: those that ride later count from it.
    if (!pending_.borrow()) return WriteStatus::kLost;
    append_waiting_ack();
  }
  // A message in mid-FPDU has emptied the buffer before it, so what is here starts at a border.
  while (!pending_.empty()) {
    const auto bytes = pending_.bytes();
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (rules_.is_one_by_one ? MSG_EOR : 0);
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), flags);
    if (sent >= 0) {
      pending_.consume(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return WriteStatus::kBlocked;
    } else if (errno != EINTR) {
      return note_error(errno);
    }
  }
  pending_.release();
  return WriteStatus::kDone;
}

void Outbound::note_progress(const Message& message) {
  if (is_in_message_) return;
  is_in_message_ = true;
  message_ = message;
}

void Outbound::finish_message(const Message& message) {
  SOFTDAT_DEBUG_CHECK(taken_ == payload_length(message), "a message ends with its last byte", taken_, message.length);
  SOFTDAT_DEBUG_CHECK(is_at_border(), "a message ends with a whole FPDU", position_);
  if (!is_tagged(message.opcode)) ++next_sequence_[row_of(message.opcode).queue];
  is_in_message_ = false;
  taken_ = 0;
}

}  // namespace softdat::transport::tcp
