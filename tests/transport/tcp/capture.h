// SPDX-License-Identifier: BSD-2-Clause
// Capture: the bytes of one TCP connection as a pcap file, made without the rights that listening
// on an interface takes. Relay: a man in the middle who fills it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tests/transport/tcp/raw_peer.h"

namespace softdat::transport::tcp {

class Capture {
 public:
  Capture();
  // One TCP segment (more, when there are more than 60,000 bytes).
  void add(bool is_from_client, std::span<const std::byte> bytes);
  void write(const std::string& path) const;

 private:
  void add_packet(bool is_from_client, std::uint8_t flags, std::span<const std::byte> bytes);

  Bytes file_;
  std::uint32_t next_[2] = {1000, 2000};  // sequence numbers: the server's, the client's
  std::uint32_t microseconds_ = 0;
};

class Relay {
 public:
  // Listens at `here` and passes on to `there`, both at `port`.
  Relay(std::uint32_t here, std::uint32_t there, std::uint16_t port);
  void pump();
  const Capture& capture() const { return capture_; }

 private:
  void pass(RawPeer& from, RawPeer& to, bool is_from_client);

  const std::uint32_t there_;
  const std::uint16_t port_;
  RawPeer client_;
  RawPeer server_;
  Capture capture_;
};

}  // namespace softdat::transport::tcp
