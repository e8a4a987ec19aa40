// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/mpa_frame_reader.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace softdat::transport::tcp {
namespace {

// How long the frame is, as far as what has come of it tells.
base::Result<std::size_t, MpaFault> frame_size(MpaFrameKind kind, std::span<const std::byte> so_far) {
  if (so_far.size() < kMpaHeaderSize) return kMpaHeaderSize;
  const auto length = decode_mpa_length(kind, so_far);
  if (!length.ok()) return base::Failure{length.reason()};
  return kMpaHeaderSize + length.value();
}

}  // namespace

MpaFrameReader::Reading MpaFrameReader::read(int fd, MpaFrameKind kind) {
  bool has_moved = false;
  for (;;) {
    const auto size = frame_size(kind, bytes_);
    if (!size.ok()) return {.has_moved = true, .fault = Refusal::kProtocol};
    const std::size_t have = bytes_.size();
    if (have >= kMpaHeaderSize && have == size.value()) {
      auto frame = decode_mpa_frame(kind, std::exchange(bytes_, {}));
      if (!frame.ok()) return {.has_moved = true, .fault = Refusal::kProtocol};
      return {.has_moved = true, .frame = std::move(frame).value()};
    }
    // Never reads beyond the frame: FPDUs may follow, and they belong to the parser.
    bytes_.resize(size.value());
    const ssize_t got = ::recv(fd, bytes_.data() + have, size.value() - have, MSG_DONTWAIT);
    bytes_.resize(have + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {.has_moved = has_moved};
    // The listener was closed while this connection waited in its queue.
    if (got < 0 && errno == ECONNRESET) return {.has_moved = true, .fault = Refusal::kNoListener};
    if (got <= 0) return {.has_moved = true, .fault = Refusal::kUnreachable};
    has_moved = true;
  }
}

}  // namespace softdat::transport::tcp
