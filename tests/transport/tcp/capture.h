// SPDX-License-Identifier: BSD-2-Clause
// Capture: TCP connections as a pcap file, made without the rights that listening on an interface takes. What belongs
// to the network (addresses, sequence numbers, times) is always the same, and each MPA frame and FPDU is a packet of
// its own, so that the file depends on what was said and on nothing else. Relay: a man in the middle who fills it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/transport/tcp/raw_peer.h"

namespace softdat::transport::tcp {

class Capture {
 public:
  struct Frame {
    int connection;  // from 0
    bool is_from_client;
    Bytes bytes;
    friend bool operator==(const Frame&, const Frame&) = default;
  };

  Capture();
  // What is added from now on belongs to another connection.
  void begin_connection();
  // Cut as may be; a frame is added once it is whole.
  void add(bool is_from_client, std::span<const std::byte> bytes);
  const std::vector<Frame>& frames() const { return frames_; }
  void write(const std::string& path) const;

  // The frames of a file that write() made; none of one that is not there.
  static std::vector<Frame> read(const std::string& path);

 private:
  void add_frame(bool is_from_client, const Bytes& frame);
  void add_packet(bool is_from_client, std::uint8_t flags, std::span<const std::byte> bytes);

  struct Direction {
    std::uint32_t next = 0;  // sequence number
    Bytes rest{};            // the beginning of a frame
    bool has_begun = false;  // its MPA frame is done
  };
  Bytes file_;
  std::vector<Frame> frames_;
  Direction directions_[2];  // the server's, the client's
  int connection_ = -1;
  std::uint32_t microseconds_ = 0;
};

class Relay {
 public:
  // Listens at `here` and passes one connection on to `there`, both at `port`.
  Relay(std::uint32_t here, std::uint32_t there, std::uint16_t port, Capture& capture);
  void pump();

 private:
  void pass(RawPeer& from, RawPeer& to, bool is_from_client);

  const std::uint32_t there_;
  const std::uint16_t port_;
  RawPeer client_;
  RawPeer server_;
  Capture& capture_;
};

}  // namespace softdat::transport::tcp
