// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/floor/tcp.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/ticks.h"

namespace softdat::tools::floor {
namespace {

[[noreturn]] void fail(const char* call) {
  throw Failure(fmt::format("{}: {}", call, std::strerror(errno)));
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {
    if (fd_ < 0) fail("socket");
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

int new_socket() {
  return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

// Listens at a free port of the loopback address.
class Listener {
 public:
  Listener() : socket_(new_socket()) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    auto* const generic = reinterpret_cast<sockaddr*>(&address_);
    if (::bind(socket_.fd(), generic, length) != 0) fail("bind");
    if (::listen(socket_.fd(), 128) != 0) fail("listen");
    if (::getsockname(socket_.fd(), generic, &length) != 0) fail("getsockname");
  }
  int accept() const { return ::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC); }
  int connect() const {
    const int fd = new_socket();
    if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address_), sizeof address_) != 0) fail("connect");
    return fd;
  }

 private:
  Socket socket_;
  sockaddr_in address_{};
};

void send_at_once(const Socket& socket) {
  const int on = 1;
  if (::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) fail("setsockopt");
}

void put(const Socket& socket, const std::vector<char>& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = ::send(socket.fd(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent < 0) fail("send");
    done += static_cast<std::size_t>(sent);
  }
}

// False at the end of the stream.
bool get(const Socket& socket, std::vector<char>& bytes, int flags) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::recv(socket.fd(), bytes.data() + done, bytes.size() - done, flags);
    if (got == 0) return false;
    if (got < 0 && errno == EAGAIN) continue;
    if (got < 0) fail("recv");
    done += static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace

// The median, as of the figures that it stands beside: one round in which a side was not running would outweigh
// thousands.
double tcp_ping_pong_us(const Processors& processors, std::size_t size, bool polling, double seconds) {
  const Listener listener;
  // The polling one asks again and again without sleeping (get() goes on at EAGAIN).
  const int flags = polling ? MSG_DONTWAIT : 0;
  double one_way = 0;
  const auto here = [&] {
    const Socket socket(listener.connect());
    send_at_once(socket);
    std::vector<char> bytes(size);
    std::vector<double> rounds;
    const perf::Ticks& ticks = perf::Ticks::instance();
    const auto length = static_cast<std::uint64_t>(seconds * 1e6 / ticks.unit_us());
    const std::uint64_t start = ticks.now();
    for (std::uint64_t now = start; now - start < length;) {
      put(socket, bytes);
      if (!get(socket, bytes, flags)) throw Failure("the other side of a socket is gone");
      const std::uint64_t end = ticks.now();
      rounds.push_back(static_cast<double>(end - std::exchange(now, end)));
    }
    const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
    std::nth_element(rounds.begin(), middle, rounds.end());
    one_way = *middle * ticks.unit_us() / 2;
  };
  const auto there = [&] {
    const Socket socket(listener.accept());
    send_at_once(socket);
    std::vector<char> bytes(size);
    while (get(socket, bytes, flags)) put(socket, bytes);
  };
  run_together(processors, here, there);
  return one_way;
}

double tcp_stream_mb_s(const Processors& processors, std::size_t size, double seconds) {
  const Listener listener;
  double rate = 0;
  const auto here = [&] {
    const Socket socket(listener.connect());
    const std::vector<char> bytes(size);
    std::uint64_t pieces = 0;
    const auto start = Clock::now();
    do {
      put(socket, bytes);
      ++pieces;
    } while (seconds_since(start) < seconds);
    // The end of the stream stands behind all pieces; the reader closes there, which tells that it has read them.
    ::shutdown(socket.fd(), SHUT_WR);
    std::vector<char> end(1);
    get(socket, end, 0);
    rate = static_cast<double>(pieces) * static_cast<double>(size) / seconds_since(start) * 1e-6;
  };
  const auto there = [&] {
    const Socket socket(listener.accept());
    std::vector<char> bytes(size);
    while (get(socket, bytes, 0)) {
    }
  };
  run_together(processors, here, there);
  return rate;
}

double tcp_connects_per_s(const Processors& processors, double seconds) {
  const Listener listener;
  double rate = 0;
  const auto here = [&] {
    std::uint64_t connections = 0;
    std::vector<char> byte(1);
    const auto start = Clock::now();
    do {
      const Socket socket(listener.connect());
      get(socket, byte, 0);
      ++connections;
    } while (seconds_since(start) < seconds);
    rate = static_cast<double>(connections) / seconds_since(start);
    // A connection that bears a byte is the last.
    const Socket last(listener.connect());
    put(last, byte);
    get(last, byte, 0);
  };
  const auto there = [&] {
    std::vector<char> byte(1);
    for (bool is_last = false; !is_last;) {
      const Socket socket(listener.accept());
      // This side ends first, so the socket in TIME_WAIT is its own, and keeps none of the connecting side's ports.
      ::shutdown(socket.fd(), SHUT_WR);
      is_last = get(socket, byte, 0);
    }
  };
  run_together(processors, here, there);
  return rate;
}

}  // namespace softdat::tools::floor
