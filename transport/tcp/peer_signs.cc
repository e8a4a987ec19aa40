// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/peer_signs.h"

// The C library's <netinet/tcp.h> has an older tcp_info and cannot be included beside this one.
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace softdat::transport::tcp {
namespace {

constexpr std::uint8_t kSynSent = 2;  // TCP_SYN_SENT, which only the C library's header names

}  // namespace

PeerSigns peer_signs(int fd) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  // A peer that has no room may answer a segment without taking it, and the next repetition may be minutes away: so
  // only a segment sent after the last answer counts. Both ages are in milliseconds; of a repetition answered within
  // one they are the same.
  const bool is_repeated = info.tcpi_backoff > 0;
  const bool is_newer = info.tcpi_last_data_sent < info.tcpi_last_ack_recv + (is_repeated ? 0 : 1);
  const bool is_connecting = info.tcpi_state == kSynSent;  // a SYN does not count as data
  const bool is_awaited = (info.tcpi_unacked > 0 && (is_newer || is_connecting)) || info.tcpi_probes > 0;
  return {.is_awaited = is_awaited, .heard = info.tcpi_segs_in};
}

}  // namespace softdat::transport::tcp
