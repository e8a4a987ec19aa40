// SPDX-License-Identifier: BSD-2-Clause
// The half of Outbound that sends large payload from where it lies. After a partial write the same
// bytes are gathered anew at the next call: head and lengths follow from the message and from how
// far it has got, so nothing but two numbers is kept.
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/assert.h"
#include "base/byte_order.h"
#include "transport/tcp/fpdu.h"
#include "transport/tcp/gather_batch.h"
#include "transport/tcp/outbound.h"

namespace softdat::transport::tcp {
namespace {

constexpr std::size_t kDirectBudget = std::size_t{2} << 20;

long send_pieces(int fd, std::span<iovec> pieces) {
  msghdr header{};
  header.msg_iov = pieces.data();
  header.msg_iovlen = pieces.size();
  for (;;) {
    const ssize_t sent = ::sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0 || errno != EINTR) return sent;
  }
}

}  // namespace

// Until the message is out, the socket is full, or the budget of one call is used up.
WriteStatus Outbound::send_direct(int fd, const Message& message, PayloadSource* payload) {
  std::size_t budget = kDirectBudget;
  for (;;) {
    const WriteStatus status = send_batch(fd, message, payload, budget);
    if (status != WriteStatus::kDone) return status;
    if (!is_in_message_) return WriteStatus::kDone;
    if (budget == 0) return WriteStatus::kYielded;
  }
}

// One sendmsg: what waits in the buffer, then as many FPDUs as it takes.
WriteStatus Outbound::send_batch(int fd, const Message& message, PayloadSource* payload, std::size_t& budget) {
  SOFTDAT_DEBUG_CHECK(payload != nullptr, "a message that goes from where it lies has a source");
  GatherBatch batch;
  batch.add(stream_.waiting_bytes().data(), stream_.waiting_bytes().size());
  std::size_t skip = stream_.position();
  const std::uint32_t total = payload_length(message);
  for (std::uint32_t at = taken_; at < total && batch.has_room();) {
    const std::size_t part = part_at(message, at);
    const Head head = make_head(message, at, part);
    const std::size_t trailer = trailer_of(head.size - kLengthSize + part);
    if (!batch.add_fpdu(std::span(head.bytes).first(head.size), *payload, at, part, trailer, skip)) {
      // The FPDUs before it go out first, so that a Terminate can still say why the connection ends.
      if (at == taken_) return fault_in(message);
      break;
    }
    at += static_cast<std::uint32_t>(part);
    skip = 0;
  }
  const long sent = send_pieces(fd, batch.pieces());
  // The memory went between is_readable() and sendmsg().
  if (sent < 0 && errno == EFAULT) return fault_in(message);
  if (sent < 0) return errno == EAGAIN || errno == EWOULDBLOCK ? WriteStatus::kBlocked : stream_.note_error(errno);
  account(message, static_cast<std::size_t>(sent));
  budget -= std::min(budget, static_cast<std::size_t>(sent));
  return static_cast<std::size_t>(sent) < batch.bytes() ? WriteStatus::kBlocked : WriteStatus::kDone;
}

WriteStatus Outbound::fault_in(const Message& message) {
  if (!stream_.is_at_border()) fill_up(message);
  return fault();
}

// Zeros replace what cannot be read any more of an FPDU that the socket has in part, so that a Terminate can tell the
// peer why the connection ends. The void mark keeps the peer from delivering a message whose last FPDU that is; to a
// peer that does not know the mark nothing more can be said.
void Outbound::fill_up(const Message& message) {
  const std::size_t part = part_at(message, taken_);
  const bool is_last = taken_ + part == payload_length(message);
  if (is_last && !stream_.rules().knows_voids) return;
  const std::size_t size = fpdu_size(ulpdu_size(message, part));
  std::byte* const fpdu = stream_.begin_rest(size);
  if (fpdu == nullptr) return;
  std::memset(fpdu, 0, size);
  // The socket has the beginning of this very head or payload; end_rest() drops as many bytes as it has.
  encode_head(message, taken_, part, fpdu);
  if (is_last) base::store_be(fpdu + size - kCrcSize, kVoidMark);
  stream_.end_rest(size);
  taken_ += static_cast<std::uint32_t>(part);
}

void Outbound::account(const Message& message, std::size_t sent) {
  stream_.note_sent(sent);
  if (!stream_.is_at_border()) note_progress(message);
  // Counts whole FPDUs that the socket took; position() keeps how far it is in the next one.
  while (is_in_message_ && !stream_.is_at_border()) {
    const std::size_t part = part_at(message, taken_);
    if (!stream_.pass_fpdu(fpdu_size(ulpdu_size(message, part)))) return;
    taken_ += static_cast<std::uint32_t>(part);
    if (taken_ == payload_length(message)) finish_message(message);
  }
  SOFTDAT_DEBUG_CHECK(is_in_message_ || stream_.is_at_border(), "what the socket took belongs to the message",
                      stream_.position());
}

}  // namespace softdat::transport::tcp
