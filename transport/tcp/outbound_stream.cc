// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/outbound_stream.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/byte_order.h"
#include "transport/tcp/crc32c.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/note.h"
#include "transport/tcp/opcode_table.h"

namespace softdat::transport::tcp {
namespace {

// Encoded FPDUs leave by themselves when so much has gathered.
constexpr std::size_t kBatchLimit = std::size_t{32} << 10;
static_assert(kBatchLimit + kMaxFpdu + 256 <= BufferPool::kBufferSize, "control messages always fit");

}  // namespace

WriteStatus OutboundStream::note_error(int error) {
  error_ = error;
  return WriteStatus::kLost;
}

bool OutboundStream::is_ended_by_peer() const {
  return error_ == EPIPE || error_ == ECONNRESET;
}

bool OutboundStream::has_space(std::size_t size) const {
  // Foreign peers: each FPDU leaves by a call of its own (docs/WIRE.md, "Foreign peers").
  if (rules_.is_one_by_one) return pending_.empty();
  return pending_.size() < kBatchLimit && pending_.free_space() >= size;
}

WriteStatus OutboundStream::make_room(int fd, std::size_t size) {
  if (!has_space(size)) {
    const WriteStatus status = flush(fd);
    // A flush that blocked half way may still have made room.
    if (status != WriteStatus::kDone && (status != WriteStatus::kBlocked || !has_space(size))) return status;
  }
  // Without memory nothing can be said any more.
  return pending_.borrow() ? WriteStatus::kDone : WriteStatus::kLost;
}

std::byte* OutboundStream::begin_fpdu(std::size_t ulpdu_length) {
  SOFTDAT_DEBUG_CHECK(is_at_border(), "an FPDU that is copied follows whole ones", position_);
  SOFTDAT_DEBUG_CHECK(fpdu_size(ulpdu_length) <= pending_.free_space(), "make_room() comes before the FPDU",
                      ulpdu_length);
  return pending_.room(fpdu_size(ulpdu_length)).data();
}

void OutboundStream::end_fpdu(std::byte* fpdu, std::size_t ulpdu_length, std::uint32_t crc) {
  std::byte* const padding = fpdu + kLengthSize + ulpdu_length;
  const std::size_t length = pad_of(ulpdu_length);
  // Two stores of a fixed size, which overlap, instead of a call: the padding is shorter than the CRC field.
  std::memset(padding, 0, kCrcSize);
  std::memset(padding + length, 0, kCrcSize);
  if (rules_.has_crc) base::store_le(padding + length, crc32c(crc, {padding, length}));
  pending_.commit(kLengthSize + ulpdu_length + length + kCrcSize);
}

// Bytes in the buffer go out before the socket takes a part of an FPDU from the consumer's memory.
std::span<const std::byte> OutboundStream::waiting_bytes() const {
  SOFTDAT_DEBUG_CHECK(is_at_border() || pending_.empty(), "nothing waits before an FPDU that the socket has in part",
                      position_, pending_.size());
  return pending_.bytes();
}

void OutboundStream::note_sent(std::size_t length) {
  const std::size_t of_pending = std::min(length, pending_.size());
  pending_.consume(of_pending);
  if (pending_.empty()) pending_.release();
  position_ += length - of_pending;
}

bool OutboundStream::pass_fpdu(std::size_t size) {
  if (position_ < size) return false;
  position_ -= size;
  return true;
}

std::byte* OutboundStream::begin_rest(std::size_t size) {
  SOFTDAT_DEBUG_CHECK(pending_.empty(), "an FPDU that is filled up is the first in the buffer", pending_.size());
  base::check(position_ > 0 && position_ < size, "the socket has a part of the FPDU, not all of it", position_, size);
  return pending_.room(size).data();
}

void OutboundStream::end_rest(std::size_t size) {
  pending_.commit(size);
  pending_.consume(std::exchange(position_, 0));
}

void OutboundStream::append_raw(const Segment& segment, const std::byte* body, std::size_t size) {
  base::check(is_at_border(), "nothing comes between the parts of an FPDU", position_);
  // Out of memory. To the peer an end without its Terminate or bye looks like a lost connection.
  if (!pending_.borrow()) return;
  const std::size_t most = kLengthSize + kUntaggedHeadSize + size + kMaxTrailer;
  SOFTDAT_DEBUG_CHECK(most <= pending_.free_space(), "control messages always have room", most, pending_.size());
  std::byte* const at = pending_.room(most).data();
  const std::size_t ddp = encode_segment(segment, at + kLengthSize);
  if (size > 0) std::memcpy(at + kLengthSize + ddp, body, size);
  base::store_be(at, static_cast<std::uint16_t>(ddp + size));
  end_fpdu(at, ddp + size, rules_.has_crc ? crc32c(0, {at, kLengthSize + ddp + size}) : 0);
}

void OutboundStream::append_note(NoteKind kind, std::uint64_t value) {
  append_waiting_ack();
  SOFTDAT_DEBUG_CHECK((value & ~kNoteValueMask) == 0, "the value of a note has 56 bits", value);
  // Riding acks count from the last ack of either form.
  if (kind == NoteKind::kAck) ack_.note_told(value);
  append_raw({.opcode = Opcode::kWrite, .stag = kNoteStag, .offset = encode_note(kind, value)}, nullptr, 0);
}

void OutboundStream::append_waiting_ack() {
  if (ack_.is_waiting()) append_note(NoteKind::kAck, ack_.take());
}

void OutboundStream::append_ready_to_receive() {
  append_raw({.opcode = Opcode::kWrite, .stag = kNoteStag}, nullptr, 0);
}

void OutboundStream::append_terminate(const Terminate& terminate) {
  append_waiting_ack();
  std::byte body[kMaxTerminateSize];
  const std::size_t size = encode_terminate(terminate, body);
  // The first and last message of its queue.
  append_raw({.opcode = Opcode::kTerminate, .queue = kTerminateQueue, .sequence = 1}, body, size);
}

WriteStatus OutboundStream::flush(int fd) {
  if (ack_.is_waiting()) {
    // The peer must not miss an ack: those that ride later count from it.
    if (!pending_.borrow()) return WriteStatus::kLost;
    append_waiting_ack();
  }
  // A message in mid-FPDU has emptied the buffer before it, so what is here starts at a border.
  while (!pending_.empty()) {
    const auto bytes = waiting_bytes();
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

}  // namespace softdat::transport::tcp
