// SPDX-License-Identifier: BSD-2-Clause
#include "simnic/capture/live_door.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/capture_control.h"
#include "base/uncancelled.h"
#include "simnic/capture/live_session.h"

namespace softdat::simnic::capture {
namespace {

constexpr int kBacklog = 8;

// The first name that is free. A hostile user may have taken them all, and then this process is not captured.
base::UniqueFd listen_at_free_name() {
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return {};
  for (unsigned number = 0; number < base::kCaptureSockets; ++number) {
    sockaddr_un name;
    const socklen_t length = base::capture_socket_name(static_cast<std::uint32_t>(::getpid()), number, name);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), length) == 0) {
      return ::listen(socket.get(), kBacklog) == 0 ? std::move(socket) : base::UniqueFd();
    }
    if (errno != EADDRINUSE) return {};
  }
  return {};
}

}  // namespace

std::unique_ptr<LiveDoor> LiveDoor::open(transport::Carrier& carrier) {
  const base::Uncancelled guard;
  base::UniqueFd socket = listen_at_free_name();
  if (!socket) return nullptr;
  std::unique_ptr<LiveDoor> door(new LiveDoor(std::move(socket)));
  door->watch_ = carrier.watch(door->socket_.get(), *door);
  if (!door->watch_) return nullptr;
  door->watch_->want(transport::kReadable);
  return door;
}

// A program may have closed all descriptors, and its own socket may have the number by now.
void LiveDoor::on_ready(std::uint32_t) {
  const base::Uncancelled guard;
  if (!socket_.is_intact()) return;
  for (int i = 0; i < kBacklog; ++i) {
    base::UniqueFd connection(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) break;
    serve_capture(std::move(connection));
  }
  watch_->want(transport::kReadable);
}

}  // namespace softdat::simnic::capture
