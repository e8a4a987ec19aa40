// SPDX-License-Identifier: BSD-2-Clause
// Abstract unix sockets, as the rendezvous uses them: names that vanish with the process, packets
// that carry descriptors, and the kernel's word on who is at the other end. Everything made here is
// non-blocking and closed on exec.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/ip_address.h"
#include "base/unique_fd.h"

namespace softdat::transport::shm {

// Where a carrier at this address listens for a service id: of this user, and of this version of the
// segment, so that others do not find it (and use TCP).
std::string rendezvous_name(const base::IpAddress& address, std::uint64_t service_id);

struct SocketResult {
  base::UniqueFd fd;  // empty: see error
  int error = 0;      // an errno
};

SocketResult listen_at(const std::string& name);
SocketResult connect_to(const std::string& name);
// One waiting peer; error EAGAIN when there is none.
SocketResult accept_from(int listener);
// Whether that failed for want of something that may be had again later.
bool is_short_of_descriptors(const SocketResult& result);

// Process and user at the other end, as the kernel knows them.
struct PeerIdentity {
  int pid = 0;
  std::uint32_t uid = 0;
};
PeerIdentity identify_peer(int socket);
bool is_same_user(int socket);
// A pidfd of the process at the other end; empty when that is this one, or cannot be had.
base::UniqueFd open_process(int socket);

inline constexpr std::size_t kMostFds = 4;

struct Packet {
  std::size_t length = 0;
  std::array<base::UniqueFd, kMostFds> fds;
  std::size_t fd_count = 0;
};

enum class ReceiveResult { kPacket, kNothing, kEnd };

// False when the peer is gone (or, which does not happen with two small packets, does not read).
bool send_packet(int socket, std::span<const std::byte> data, std::span<const int> fds);
// kEnd: the peer closed or died.
ReceiveResult receive_packet(int socket, std::span<std::byte> data, Packet& into);

}  // namespace softdat::transport::shm
