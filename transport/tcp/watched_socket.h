// SPDX-License-Identifier: BSD-2-Clause
// WatchedSocket: the socket of a connection and its watch in the reactor. The hub counts it as a blocked writer exactly
// while is_write_wanted(). Baton only.
#pragma once

#include <memory>

#include "base/unique_fd.h"
#include "transport/reactor.h"
#include "transport/tcp/hub.h"

namespace softdat::transport::tcp {

class WatchedSocket {
 public:
  // Both outlive it.
  WatchedSocket(Hub& hub, ReadinessSink& sink) : hub_(hub), sink_(sink) {}

  // False: the reactor cannot watch it. close() it then.
  bool open(base::UniqueFd fd);
  void close();
  // -1: none.
  int fd() const { return fd_.get(); }

  // Has the sink called once. Nothing more is read once the peer has ended its stream.
  void want_read();
  void want_write();
  // The reactor has told of room to write.
  void note_writable();
  bool is_write_wanted() const { return is_write_wanted_; }

  // The peer's FIN or reset has been read.
  void note_peer_ended() { has_peer_ended_ = true; }
  bool has_peer_ended() const { return has_peer_ended_; }

  // close() will reset the connection and drop what the kernel has not sent.
  void reset_on_close();

 private:
  Hub& hub_;
  ReadinessSink& sink_;
  base::UniqueFd fd_;
  std::unique_ptr<Reactor::Watch> watch_;
  bool is_write_wanted_ = false;
  bool has_peer_ended_ = false;
};

}  // namespace softdat::transport::tcp
