// SPDX-License-Identifier: BSD-2-Clause
#include "transport/tcp/socket.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/local_addresses.h"
#include "base/log.h"
#include "base/uncancelled.h"

namespace softdat::transport::tcp {
namespace {

constexpr int kBacklog = 4096;
constexpr int kClaimType = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;
// The segment size that every IPv4 path carries (RFC 9293 section 3.7.1).
constexpr int kLeastSegment = 536;

// Linux 6.15 has it; the headers of Debian 12 have no name for it.
constexpr int kTcpRtoMaxMs = 44;

void set_option(int fd, int level, int name, int value) {
  // Each of them only makes things better; a kernel that refuses one is no reason to stop.
  [[maybe_unused]] const int result = ::setsockopt(fd, level, name, &value, sizeof value);
}

void set_buffers(int fd, const TcpOptions& options) {
  if (options.send_buffer > 0) set_option(fd, SOL_SOCKET, SO_SNDBUF, options.send_buffer);
  if (options.receive_buffer > 0) set_option(fd, SOL_SOCKET, SO_RCVBUF, options.receive_buffer);
}

// Keepalive probes find a dead peer that owes no answer, and ask a living one of which nothing is awaited. TCP does not
// send them while data or a closed window is outstanding: the hub's looks find a dead peer then. The kernel's pause
// between two probes of a closed window grows to two minutes unless it may be bounded.
void set_timeouts(int fd, const TcpOptions& options) {
  const auto seconds = static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(options.peer_timeout).count());
  const int idle = std::max(1, seconds / 4);
  const int interval = std::max(1, seconds / 8);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, std::max(1, (seconds - idle) / interval - 1));
  set_option(fd, IPPROTO_TCP, kTcpRtoMaxMs, std::clamp(seconds * 1000 / 8, 1000, 120'000));
}

void set_stream_options(int fd, const TcpOptions& options) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_timeouts(fd, options);
  set_buffers(fd, options);
}

Address address_from(int (*ask)(int, sockaddr*, socklen_t*), int fd) {
  base::SocketAddress address;
  address.length = sizeof address.storage;
  if (ask(fd, address.generic(), &address.length) != 0) return {};
  return base::from_socket_address(*address.generic()).value_or(Address{});
}

base::UniqueFd open_stream(const Address& address) {
  const int family = address.is_ipv6() ? AF_INET6 : AF_INET;
  base::UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  // On connecting sockets too: their local port stays free for a listener that wants it later.
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.is_ipv6()) set_option(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  return fd;
}

// In hexadecimal; a link-local address belongs to its interface.
std::string name_of(const Address& address) {
  char text[64];
  if (!address.is_ipv6()) {
    std::snprintf(text, sizeof text, "%08x", address.ipv4);
    return text;
  }
  std::string name;
  for (const std::uint8_t byte : address.ipv6.bytes) {
    std::snprintf(text, sizeof text, "%02x", byte);
    name += text;
  }
  std::snprintf(text, sizeof text, "%%%u", address.ipv6.scope);
  return address.ipv6.scope == 0 ? name : name + text;
}

// The block says no IPv6 address (docs/WIRE.md), so our end of the connection has to: a host may have many. Where ours
// cannot reach the peer, another of the host's will do.
void speak_from_own(int fd, const TcpOptions& options, const Address& remote) {
  const Address& own = options.address;
  const bool is_alike = own.is_ipv6() && remote.is_ipv6() && is_loopback(own) == is_loopback(remote) &&
                        is_link_local(own) == is_link_local(remote);
  if (!is_alike) return;
  // The port is chosen at connect(), for the pair of addresses: bind() would use up one port of the host for each
  // connection.
  set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  const base::SocketAddress local = to_socket_address(own);
  [[maybe_unused]] const int result = ::bind(fd, local.generic(), local.length);
}

// A claim that refuses may be one that is being made: between bind() and listen() it is asked again.
bool connect_to_claim(int fd, const sockaddr_un& name, socklen_t size) {
  constexpr auto kPatience = std::chrono::milliseconds(100);
  const auto end = base::Clock::now() + kPatience;
  while (::connect(fd, reinterpret_cast<const sockaddr*>(&name), size) != 0) {
    if (errno != ECONNREFUSED || base::Clock::now() >= end) return false;
    base::nap();
  }
  return true;
}

// Abstract names have no owner, so that any user can take one first. Only a claim of this user's counts. Leaves errno
// as it was.
bool is_claimed_by_this_user(const sockaddr_un& name, socklen_t size) {
  const int error = errno;
  const base::UniqueFd fd(::socket(AF_UNIX, kClaimType, 0));
  ucred owner = {};
  socklen_t length = sizeof owner;
  const bool is_ours = connect_to_claim(fd.get(), name, size) &&
                       ::getsockopt(fd.get(), SOL_SOCKET, SO_PEERCRED, &owner, &length) == 0 &&
                       owner.uid == ::geteuid();
  errno = error;
  return is_ours;
}

}  // namespace

base::Result<base::UniqueFd, int> open_listener(const TcpOptions& options, std::uint16_t port) {
  const base::SocketAddress local = to_socket_address(options.address.with_port(port));
  base::UniqueFd fd = open_stream(options.address);
  if (!fd) return base::Failure{errno};
  // Accepted sockets inherit them.
  set_stream_options(fd.get(), options);
  if (::bind(fd.get(), local.generic(), local.length) != 0) return base::Failure{errno};
  if (::listen(fd.get(), kBacklog) != 0) return base::Failure{errno};
  return fd;
}

// Never blocks: finish_connect() tells the outcome when the socket is writable.
base::Result<base::UniqueFd, int> start_connect(const TcpOptions& options, const Address& remote) {
  base::UniqueFd fd = open_stream(remote);
  if (!fd) return base::Failure{errno};
  set_stream_options(fd.get(), options);
  speak_from_own(fd.get(), options, remote);
  const base::SocketAddress to = to_socket_address(remote);
  if (::connect(fd.get(), to.generic(), to.length) != 0 && errno != EINPROGRESS) return base::Failure{errno};
  return fd;
}

bool is_connect_over(int fd) {
  pollfd entry{.fd = fd, .events = POLLOUT, .revents = 0};
  return ::poll(&entry, 1, 0) > 0;
}

int finish_connect(int fd, const Address& remote) {
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  if (error != 0) return error;
  // A socket that connects to a local port that nobody listens on can meet itself (simultaneous open, RFC 9293 section
  // 3.5).
  return address_from(::getsockname, fd) == remote ? ECONNREFUSED : 0;
}

base::Result<base::UniqueFd, int> accept_one(int listener) {
  for (;;) {
    base::UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (fd) return fd;
    // The peer may have gone before we came; the next one may still be there.
    if (errno != EINTR && errno != ECONNABORTED) return base::Failure{errno};
  }
}

base::Result<base::UniqueFd, int> claim_service(const Address& address, std::uint64_t service_id) {
  const base::Uncancelled guard;
  base::UniqueFd fd(::socket(AF_UNIX, kClaimType, 0));
  if (!fd) return base::Failure{errno};
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  // A leading zero byte: a name that lives in the kernel, not in a file system.
  const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "softdat-tcp/%s/%016llx",
                                   name_of(address).c_str(), static_cast<unsigned long long>(service_id));
  base::check(length > 0 && static_cast<std::size_t>(length) < sizeof name.sun_path - 1, "the name of a claim fits",
              static_cast<std::uint64_t>(length));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), size) == 0) {
    return ::listen(fd.get(), kBacklog) == 0 ? base::Result<base::UniqueFd, int>(std::move(fd)) : base::Failure{errno};
  }
  // The address is in use only if this user serves the id. An abstract name that another user took blocks nothing.
  if (errno != EADDRINUSE || is_claimed_by_this_user(name, size)) return base::Failure{errno};
  base::log(base::LogLevel::kNotice, "another user keeps the name of service %llu; listening all the same",
            static_cast<unsigned long long>(service_id));
  return fd;
}

// A handshake frame goes into an empty send buffer, which takes it whole; less means that the connection is gone.
bool write_frame(int fd, std::span<const std::byte> frame) {
  const ssize_t sent = ::send(fd, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT | MSG_EOR);
  return sent >= 0 && static_cast<std::size_t>(sent) == frame.size();
}

std::size_t bytes_unsent(int fd) {
  int count = 0;
  return ::ioctl(fd, SIOCOUTQNSD, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

Address remote_address(int fd) {
  return address_from(::getpeername, fd);
}

std::size_t segment_size(int fd) {
  int size = 0;
  socklen_t length = sizeof size;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_MAXSEG, &size, &length) != 0 || size < kLeastSegment) size = kLeastSegment;
  return static_cast<std::size_t>(size);
}

}  // namespace softdat::transport::tcp
