// SPDX-License-Identifier: BSD-2-Clause
// A descriptor whose last close takes a minute: a TCP socket with SO_LINGER and data that its peer does not read.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <stdexcept>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace softdat::transport::shm {

class LingeringSocket {
 public:
  static constexpr auto kSeconds = 60;
  // What a call that must not wait for the close may take on a busy machine.
  static constexpr auto kAtOnce = std::chrono::seconds(20);

  LingeringSocket() {
    const base::UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    ends_[0].reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const bool is_connected = ::bind(listener.get(), generic, length) == 0 && ::listen(listener.get(), 1) == 0 &&
                              ::getsockname(listener.get(), generic, &length) == 0 &&
                              ::connect(ends_[0].get(), generic, length) == 0;
    ends_[1].reset(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const linger lingering = {1, kSeconds};
    if (!is_connected || ::setsockopt(get(), SOL_SOCKET, SO_LINGER, &lingering, sizeof lingering) != 0) {
      throw std::runtime_error("no TCP connection");
    }
    const std::array<std::byte, 65536> bytes{};
    while (::send(get(), bytes.data(), bytes.size(), MSG_DONTWAIT) > 0) continue;
  }

  int get() const { return ends_[0].get(); }
  // Ours is not the last one any more. Returns at once while somebody else has it.
  void let_go() { ends_[0].reset(); }
  // Resets the connection, so that a thread that waits in close() returns.
  void end() { ends_[1].reset(); }

 private:
  std::array<base::UniqueFd, 2> ends_;
};

}  // namespace softdat::transport::shm
