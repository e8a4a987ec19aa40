// SPDX-License-Identifier: BSD-2-Clause
// Small things pass through the buffer, many at a time; the bulk of large payload goes from the
// socket to its place at once. A place is asked only for bytes that have arrived, which FIONREAD tells.
#include "transport/tcp/inbound.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.h"
#include "memory/page_mover.h"

namespace softdat::transport::tcp {
namespace {

constexpr std::size_t kDirectLeast = FpduParser::kDirectLeast;
constexpr std::size_t kSmallReadAhead = FpduParser::kSmallReadAhead;

std::size_t bytes_waiting(int fd) {
  int count = 0;
  return ::ioctl(fd, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

template <typename Call>
long retry(Call call) {
  long result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// The connection is lost then.
long want_of_memory() {
  errno = ENOMEM;
  return -1;
}

}  // namespace

void Inbound::abandon() {
  // Within read() the parser still points into the buffer; read() releases it.
  if (!is_reading_) buffer_.release();
}

ReadOutcome Inbound::read(int fd, std::size_t budget) {
  SOFTDAT_DEBUG_CHECK(!is_reading_, "a sink does not read the connection that calls it");
  is_reading_ = true;
  const ReadOutcome outcome = read_until(fd, budget);
  is_reading_ = false;
  if (buffer_.empty() || !sink_.is_receiving()) buffer_.release();
  return outcome;
}

ReadOutcome Inbound::read_until(int fd, std::size_t budget) {
  ReadOutcome outcome{ReadStatus::kDrained};
  is_drained_ = false;
  for (;;) {
    while (parser_.step()) {
    }
    if (!sink_.is_receiving()) outcome.status = ReadStatus::kStopped;
    if (parser_.fault()) outcome = {ReadStatus::kFault, outcome.bytes, *parser_.fault()};
    if (outcome.status != ReadStatus::kDrained || is_drained_) return outcome;
    // One connection may not hold the baton: the rest is read in a later turn.
    if (outcome.bytes >= budget) return {ReadStatus::kMore, outcome.bytes};
    const long got = parser_.wants_direct() ? receive_direct(fd) : receive_staged(fd, parser_.wanted_bytes());
    if (got > 0) {
      outcome.bytes += static_cast<std::size_t>(got);
      continue;
    }
    // A sink ended the connection within the call: parse no further, and report kStopped.
    if (!sink_.is_receiving()) continue;
    if (got == 0) return {ReadStatus::kEnd, outcome.bytes};
    if (errno == EAGAIN || errno == EWOULDBLOCK) return outcome;
    return {ReadStatus::kLost, outcome.bytes};
  }
}

long Inbound::receive_staged(int fd, std::size_t wanted) {
  const std::span<std::byte> room = buffer_.room(BufferPool::kBufferSize / 4);
  const std::size_t length = std::min(wanted, room.size());
  if (length == 0) return want_of_memory();
  const long got = retry([&] { return ::recv(fd, room.data(), length, MSG_DONTWAIT); });
  if (got <= 0) return got;
  buffer_.commit(static_cast<std::size_t>(got));
  // Less than asked means that the socket is empty; what comes later makes it readable again.
  is_drained_ = static_cast<std::size_t>(got) < length;
  if (!is_drained_) parser_.grow_read_ahead();
  return got;
}

long Inbound::receive_direct(int fd) {
  SOFTDAT_DEBUG_CHECK(buffer_.empty(), "bytes that were read earlier go to their place first", buffer_.size());
  const std::size_t waiting = bytes_waiting(fd);
  // Few bytes are cheaper through the buffer, and may bring the next head along.
  if (waiting < kDirectLeast) return receive_staged(fd, kDirectLeast + kSmallReadAhead);
  const std::size_t length = std::min(waiting, messages_.payload_left());
  SliceList slices;
  Placement placement = Placement::kPlace;
  if (!messages_.ask(length, slices, placement)) return -1;
  return placement == Placement::kDiscard ? receive_discarded(fd, length) : receive_slices(fd, slices, length);
}

long Inbound::receive_slices(int fd, const SliceList& slices, std::size_t length) {
  iovec list[SliceList::kCapacity + 1];
  int count = 0;
  std::size_t covered = 0;
  for (const Slice& slice : slices.slices()) {
    const std::size_t part = std::min(slice.length, length - covered);
    if (part == 0) continue;
    list[count++] = {slice.data, part};
    covered += part;
  }
  base::check(covered > 0, "a placement covers at least one byte");
  // The segment ends here: take the trailer and the next heads in the same system call.
  if (covered == messages_.payload_left()) {
    const std::span<std::byte> room = buffer_.room(kSmallReadAhead);
    if (!room.empty()) list[count++] = {room.data(), std::min(room.size(), kSmallReadAhead)};
  }
  // EFAULT may come from our own registration that moves these pages at this moment
  // (docs/decisions/0007-direct-access.md).
  memory::MoveWatch watch;
  long got = retry([&] { return ::readv(fd, list, count); });
  while (got < 0 && errno == EFAULT && watch.was_disturbed()) got = retry([&] { return ::readv(fd, list, count); });
  // The receiver's memory is gone. The sink hears of it, and the bytes are read and dropped so that the stream goes on.
  if (got < 0 && errno == EFAULT) return messages_.report_fault(covered) ? receive_discarded(fd, covered) : got;
  if (got <= 0) return got;
  const std::size_t placed = std::min(static_cast<std::size_t>(got), covered);
  messages_.advance(placed);
  buffer_.commit(static_cast<std::size_t>(got) - placed);
  // All of it was there, so only memory that cannot be written makes it less.
  if (placed < covered && !watch.was_disturbed()) messages_.report_fault(covered - placed);
  return got;
}

long Inbound::receive_discarded(int fd, std::size_t length) {
  const std::span<std::byte> room = buffer_.room(BufferPool::kBufferSize / 4);
  if (room.empty()) return want_of_memory();
  const long got = retry([&] { return ::recv(fd, room.data(), std::min(length, room.size()), MSG_DONTWAIT); });
  if (got > 0) messages_.advance(static_cast<std::size_t>(got));
  return got;
}

}  // namespace softdat::transport::tcp
