// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/watched_socket.h"

#include <sys/socket.h>

#include <utility>

namespace softdat::transport::tcp {

bool WatchedSocket::open(base::UniqueFd fd) {
  SOFTDAT_DEBUG_CHECK(watch_ == nullptr, "a socket is closed before another is opened");
  fd_ = std::move(fd);
  watch_ = hub_.reactor().watch(fd_.get(), sink_);
  return watch_ != nullptr;
}

void WatchedSocket::close() {
  note_writable();
  watch_.reset();
  fd_.reset();
}

void WatchedSocket::want_read() {
  if (watch_ && !has_peer_ended_) watch_->want(kReadable);
}

void WatchedSocket::want_write() {
  if (!std::exchange(is_write_wanted_, true)) hub_.note_blocked_writer(1);
  watch_->want(kWritable);
}

void WatchedSocket::note_writable() {
  if (std::exchange(is_write_wanted_, false)) hub_.note_blocked_writer(-1);
}

void WatchedSocket::reset_on_close() {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  if (fd_) static_cast<void>(::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
}

}  // namespace softdat::transport::tcp
