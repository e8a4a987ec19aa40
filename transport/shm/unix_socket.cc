// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/unix_socket.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/uncancelled.h"
#include "transport/shm/segment.h"

namespace softdat::transport::shm {
namespace {

constexpr int kBacklog = 4096;
constexpr int kSocketType = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK;

struct AbstractAddress {
  sockaddr_un address = {};
  socklen_t length = 0;
};

AbstractAddress to_address(const std::string& name) {
  AbstractAddress result;
  result.address.sun_family = AF_UNIX;
  const std::size_t room = sizeof result.address.sun_path - 1;
  const std::size_t length = std::min(name.size(), room);
  std::memcpy(result.address.sun_path + 1, name.data(), length);
  result.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  return result;
}

template <typename Call>
SocketResult open_socket(const std::string& name, Call call) {
  const base::Uncancelled guard;
  SocketResult result;
  result.fd.reset(::socket(AF_UNIX, kSocketType, 0));
  const AbstractAddress address = to_address(name);
  if (result.fd && call(result.fd.get(), address)) return result;
  result.error = errno;
  result.fd.reset();
  return result;
}

const sockaddr* generic(const AbstractAddress& address) {
  return reinterpret_cast<const sockaddr*>(&address.address);
}

// Room for the descriptors of one packet.
union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * kMostFds)];
};

void take_fds(msghdr& message, Packet& into) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      base::UniqueFd owned(fd);
      if (into.fd_count < kMostFds) into.fds[into.fd_count++] = std::move(owned);
    }
  }
}

}  // namespace

std::string rendezvous_name(const base::IpAddress& address, std::uint64_t service_id) {
  char id[20];
  std::snprintf(id, sizeof id, "/%llx", static_cast<unsigned long long>(service_id));
  return "softdat/" + std::to_string(::geteuid()) + "/" + base::text_of(address) + id;
}

SocketResult listen_at(const std::string& name) {
  return open_socket(name, [](int fd, const AbstractAddress& address) {
    return ::bind(fd, generic(address), address.length) == 0 && ::listen(fd, kBacklog) == 0;
  });
}

SocketResult connect_to(const std::string& name) {
  return open_socket(name, [](int fd, const AbstractAddress& address) {
    return ::connect(fd, generic(address), address.length) == 0;
  });
}

SocketResult accept_from(int listener) {
  const base::Uncancelled guard;
  SocketResult result;
  do {
    result.fd.reset(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    result.error = result.fd ? 0 : errno;
  } while (result.error == EINTR || result.error == ECONNABORTED);
  return result;
}

bool is_short_of_descriptors(const SocketResult& result) {
  return result.error == EMFILE || result.error == ENFILE || result.error == ENOBUFS || result.error == ENOMEM;
}

PeerIdentity identify_peer(int socket) {
  ucred credentials = {};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return {.pid = 0, .uid = ~std::uint32_t{0}};
  }
  return {.pid = credentials.pid, .uid = credentials.uid};
}

bool is_same_user(int socket) {
  return identify_peer(socket).uid == ::geteuid();
}

base::UniqueFd open_process(int socket) {
  const int pid = identify_peer(socket).pid;
  if (pid <= 0 || pid == ::getpid()) return {};
  return base::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool send_packet(int socket, std::span<const std::byte> data, std::span<const int> fds) {
  const base::Uncancelled guard;
  iovec vector = {const_cast<std::byte*>(data.data()), data.size()};
  ControlBuffer control = {};
  msghdr message = {};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }
  ssize_t sent;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(data.size());
}

ReceiveResult receive_packet(int socket, std::span<std::byte> data, Packet& into) {
  const base::Uncancelled guard;
  iovec vector = {data.data(), data.size()};
  ControlBuffer control = {};
  msghdr message = {};
  message.msg_iov = &vector;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t got;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  } while (got < 0 && errno == EINTR);
  if (got < 0) return errno == EAGAIN ? ReceiveResult::kNothing : ReceiveResult::kEnd;
  take_fds(message, into);
  if (got == 0) return ReceiveResult::kEnd;
  into.length = static_cast<std::size_t>(got);
  return ReceiveResult::kPacket;
}

}  // namespace softdat::transport::shm
