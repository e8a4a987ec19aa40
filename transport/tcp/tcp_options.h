// SPDX-License-Identifier: BSD-2-Clause
// How a TCP carrier behaves. The defaults are right for everybody; tests change the rest.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "transport/offer.h"

namespace softdat::transport::tcp {

struct TcpOptions {
  // Where listeners bind; not set: every address of the machine that is one of IPv4.
  Address address{};
  // Asks for CRC32C on every connection; either side's wish is enough (RFC 5044 section 7.1).
  bool crc = false;
  // 1: no peer-to-peer mode and no IRD/ORD in the MPA frames, for peers older than RFC 6581.
  std::uint8_t mpa_revision = 2;
  // Asks for peer-to-peer mode: the initiator's first FPDU is an empty Write.
  bool is_peer_to_peer = true;

  // A socket that has sent no MPA request by then is closed.
  base::Duration request_timeout = std::chrono::seconds(5);
  // An accepted peer that has not confirmed by then is lost.
  base::Duration confirm_timeout = std::chrono::seconds(10);
  // A peer whose host is silent while an answer is due is lost within this time (docs/decisions/0017). At least 2 s.
  base::Duration peer_timeout = std::chrono::seconds(60);
  // How long a closed connection may take to bring its last bytes out.
  base::Duration linger = std::chrono::seconds(5);
  // How long the carrier's destructor waits for connections that were not closed in an orderly way.
  base::Duration prompt_linger = std::chrono::milliseconds(50);
  // How long a foreign peer's first FPDU from us is held back (docs/WIRE.md, "Foreign peers").
  base::Duration responder_hold = std::chrono::milliseconds(100);
  base::Duration initiator_hold = std::chrono::milliseconds(5);
  // A foreign responder that has not been heard by then is nudged; the next time after four times as long.
  base::Duration first_nudge = std::chrono::milliseconds(50);

  // Between our own peers; the ULPDU stays below 64 KiB.
  std::size_t max_payload = 61440;
  // One connection reads at most so many bytes in one turn, so that it cannot hold the baton for long.
  std::size_t read_budget = std::size_t{2} << 20;
  // SO_SNDBUF and SO_RCVBUF; 0 leaves them to the kernel, which adapts them.
  int send_buffer = 0;
  int receive_buffer = 0;
  // Accepted sockets whose peers have not sent their whole request yet: of one source address, and of all. Beyond it
  // the oldest is closed.
  std::size_t max_half_open_per_source = 256;
  std::size_t max_half_open = 1024;
};

}  // namespace softdat::transport::tcp
