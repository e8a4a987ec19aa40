// SPDX-License-Identifier: BSD-2-Clause
// RawPeer: a foreign program that speaks through a plain socket, byte for byte. RawTest: a carrier
// in front of it, with a clock that the test drives.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "base/unique_fd.h"
#include "tests/transport/conformance/peer.h"
#include "tests/transport/tcp/bytes.h"
#include "transport/tcp/tcp_carrier.h"

namespace softdat::transport::tcp {

using conformance::Peer;
using conformance::PeerPort;

class RawPeer {
 public:
  RawPeer() = default;
  // Connects to a listener; the kernel completes that without the listener's help.
  RawPeer(std::uint32_t ipv4, std::uint16_t port, std::uint32_t from = 0);
  // Listens, so that a carrier can connect; adopt() takes what has come.
  static RawPeer listening(std::uint32_t ipv4, std::uint16_t port);
  bool adopt();

  void send(const Bytes& bytes);
  // Reads what there is.
  void pump();
  // The first `length` of the bytes read and not taken yet.
  Bytes take(std::size_t length);
  const Bytes& received() const { return received_; }
  bool is_ended() const { return is_ended_; }  // FIN or RST seen
  bool is_connected() const { return static_cast<bool>(fd_); }
  // Whether something sent is not in the peer's hands yet.
  bool has_unacknowledged() const;
  // Whether the peer's FIN or RST comes within so much time.
  bool is_hung_up_within(base::Duration time) const;
  void shut_down();
  void reset();  // RST
  // From now on every segment to this end is dropped before TCP sees it, as by a pulled cable; and no longer.
  void cut();
  void mend();
  void close() { fd_.reset(); }

 private:
  base::UniqueFd listener_;
  base::UniqueFd fd_;
  Bytes received_;
  bool is_ended_ = false;
};

// What stands behind the 20 bytes of an MPA header.
Bytes mpa_request(const char* flags_and_revision, const Bytes& rest);
Bytes mpa_reply(const char* flags_and_revision, const Bytes& rest);

class RawTest : public testing::Test {
 protected:
  void start(TcpOptions options = {});

  // Turns, at the test's own time, until it holds; false when real time runs out.
  [[nodiscard]] bool reach(const std::function<bool()>& is_done, RawPeer* raw = nullptr);
  // Turns until nothing has moved for a while.
  void settle(RawPeer* raw = nullptr);
  void pass(base::Duration time) { now_ += time; }

  // Through the MPA handshake as a foreign initiator of revision 2.
  void connect_raw(RawPeer& raw, Peer& peer, PeerPort& port);

  std::uint32_t address_ = 0;
  std::unique_ptr<Reactor> reactor_;
  std::unique_ptr<TcpCarrier> carrier_;
  base::Time now_ = base::Time{} + std::chrono::hours(1);
};

inline constexpr std::uint16_t kPort = 7174;

}  // namespace softdat::transport::tcp
