// SPDX-License-Identifier: BSD-2-Clause
// Unix sockets of the shared-memory carrier: packets that carry descriptors, bells, and the process at the other end.
// Everything made here is non-blocking and closed on exec. No call blocks, whatever the peer does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/socket_directory.h"
#include "base/unique_fd.h"

namespace softdat::transport::shm {

using base::SocketResult;

// One waiting peer; error EAGAIN when there is none.
SocketResult accept_from(int listener);
// Whether that failed for want of something that may be had again later.
bool is_short_of_descriptors(const SocketResult& result);

// A pidfd of the process at the other end, as it was when the connection was made (SO_PEERPIDFD, Linux 6.5). Empty on
// older kernels: a process number may belong to another process by now. Empty also for this very process.
base::UniqueFd open_process(int socket);

// From now on the kernel refuses packets with descriptors (SO_PASSRIGHTS, Linux 6.16).
void refuse_descriptors(int socket);

inline constexpr std::size_t kMostFds = 4;

// Holds sealed memfds only. Any other descriptor is closed by the reaper; then the packet does not count.
struct Packet {
  std::size_t length = 0;
  std::array<base::UniqueFd, kMostFds> fds;
  std::size_t fd_count = 0;
};

// The most that a packet of an established link carries.
inline constexpr std::size_t kMostPacketBytes = std::size_t{32} << 10;

enum class ReceiveResult { kPacket, kNothing, kEnd };

// False when the peer is gone, or does not read what it has been sent.
bool send_packet(int socket, std::span<const std::byte> data, std::span<const int> fds);
// kEnd: the peer closed or died, or sent what no peer sends.
ReceiveResult receive_packet(int socket, std::span<std::byte> data, Packet& into);

// A bell is a packet of one byte; no other packet of an established link is so short. Nothing is sent while the peer's
// queue is full: then it has bells to read.
inline constexpr std::size_t kBellBytes = 1;
// False when the peer cannot be woken any more: it has hung up, the socket is not ours any more, or the system refuses.
bool ring_bell(int socket);

}  // namespace softdat::transport::shm
