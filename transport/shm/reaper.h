// SPDX-License-Identifier: BSD-2-Clause
// Reaper: closes what a peer has sent, on a thread of its own.
//
// The last close of a foreign file may block for as long as the peer chose: a TCP socket with SO_LINGER, a file of a
// FUSE file system. So may the close of a unix socket, because descriptors in flight are closed with it.
// The thread starts when there is something to close and ends when all is closed. At most one per process.
#pragma once

#include <utility>

#include "base/unique_fd.h"

namespace softdat::transport::shm {

// Takes the memory that the reaper needs. Before anything is received. Throws std::bad_alloc.
void prepare_reaper();

// A descriptor as it was received. Any thread; never blocks. Throws nothing: what cannot be closed now stays open until
// the next call.
void close_foreign(int fd);

// A unix socket to a peer, perhaps with unread packets in its queue. Nothing more arrives in it. Any thread; never
// blocks. The calling thread closes a socket whose queue is empty. If the program has closed our number and opened a
// file of its own there, that is left alone.
void close_socket(base::UniqueFd socket);
// The same for a listening socket and its connections that have not been accepted.
void close_listener(base::UniqueFd listener);

// Owns a unix socket to a peer. The end of its life is close_socket().
class PeerSocket {
 public:
  PeerSocket() = default;
  explicit PeerSocket(base::UniqueFd fd) : fd_(std::move(fd)) {}
  PeerSocket(PeerSocket&& other) noexcept = default;
  PeerSocket& operator=(PeerSocket&& other) noexcept {
    reset();
    fd_ = std::move(other.fd_);
    return *this;
  }
  ~PeerSocket() { reset(); }

  int get() const { return fd_.get(); }
  explicit operator bool() const { return static_cast<bool>(fd_); }
  void reset() { close_socket(std::move(fd_)); }
  // Whether the number still names the socket.
  bool is_intact() const { return fd_.is_intact(); }

 private:
  base::UniqueFd fd_;
};

// Whether so much waits to be closed that nothing more must be received from strangers.
bool is_reaper_full();

}  // namespace softdat::transport::shm
