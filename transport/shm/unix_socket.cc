// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/unix_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/descriptor_shortage.h"
#include "base/uncancelled.h"
#include "memory/shared_file.h"
#include "transport/shm/reaper.h"

namespace softdat::transport::shm {
namespace {

constexpr int kPassRights = 83;         // SO_PASSRIGHTS, Linux 6.16
constexpr int kPeerProcess = 77;        // SO_PEERPIDFD, Linux 6.5
constexpr std::size_t kMostSent = 253;  // SCM_MAX_FD: the kernel's limit for one packet

// Room for all descriptors of one packet. Those without room are closed by the kernel on the receiving thread, which a
// peer could make to block.
union ControlBuffer {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * kMostSent)];
};

// Only a sealed memfd is kept. F_GET_SEALS comes first, because it asks nothing of a foreign file system; fstat() does,
// and UniqueFd calls it.
bool keep_or_close(int fd, Packet& into) {
  if (into.fd_count < kMostFds && memory::is_sealed_memory(fd)) {
    into.fds[into.fd_count++].reset(fd);
    return true;
  }
  close_foreign(fd);
  return false;
}

bool take_fds(msghdr& message, Packet& into) {
  bool are_good = (message.msg_flags & MSG_CTRUNC) == 0;
  // MSG_CTRUNC: this process had no number left for a descriptor of the packet.
  if (!are_good) base::note_descriptor_shortage(EMFILE);
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      are_good = keep_or_close(fd, into) && are_good;
    }
  }
  return are_good;
}

bool is_this_process(int socket) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.pid == ::getpid();
}

}  // namespace

// ECONNABORTED: that peer has gone, and the next one may be there.
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
  return base::is_short_of_descriptors(result.error);
}

// A carrier may have a link to itself; its own death needs no watch.
base::UniqueFd open_process(int socket) {
  int process = -1;
  socklen_t length = sizeof process;
  if (is_this_process(socket) || ::getsockopt(socket, SOL_SOCKET, kPeerProcess, &process, &length) != 0) return {};
  return base::UniqueFd(process);
}

void refuse_descriptors(int socket) {
  const int off = 0;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, kPassRights, &off, sizeof off));
}

// Never blocks. False: the peer has gone, or its queue is full.
bool send_packet(int socket, std::span<const std::byte> data, std::span<const int> fds) {
  const base::Uncancelled guard;
  iovec vector = {const_cast<std::byte*>(data.data()), data.size()};
  union {
    cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int) * kMostFds)];
  } control = {};
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

// SOCK_SEQPACKET keeps packets apart. A packet with a descriptor that is no sealed memory ends the link.
ReceiveResult receive_packet(int socket, std::span<std::byte> data, Packet& into) {
  const base::Uncancelled guard;
  iovec vector = {data.data(), data.size()};
  ControlBuffer control;
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
  if (!take_fds(message, into) || got == 0) return ReceiveResult::kEnd;
  into.length = static_cast<std::size_t>(got);
  return ReceiveResult::kPacket;
}

bool ring_bell(int socket) {
  const base::Uncancelled guard;
  const std::byte bell{};
  // EAGAIN: the socket is full of bells that the peer has not read, and one is enough.
  return ::send(socket, &bell, kBellBytes, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || errno == EAGAIN;
}

}  // namespace softdat::transport::shm
