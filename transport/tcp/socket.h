// SPDX-License-Identifier: BSD-2-Clause
// The calls of the socket API that connections and ports need, with their options set the way both
// want them. Every socket is non-blocking and closed on exec. Errors are errno values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/unique_fd.h"
#include "transport/offer.h"
#include "transport/tcp/tcp_options.h"

namespace softdat::transport::tcp {

base::Result<base::UniqueFd, int> open_listener(const TcpOptions& options, std::uint16_t port);

// Starts to connect: the descriptor becomes writable when that has ended.
base::Result<base::UniqueFd, int> start_connect(const TcpOptions& options, const Address& remote);
// Whether it has ended already, as it mostly has within a host.
bool is_connect_over(int fd);
// How it has ended: 0 or an error. A socket that TCP connected to itself (no listener was there, and the
// kernel chose the very port asked for as the local one) counts as refused.
int finish_connect(int fd, const Address& remote);

base::Result<base::UniqueFd, int> accept_one(int listener);

// Keeps the name of a service for as long as it lives, against every process of this user on this host (in its network
// namespace): a kernel object, so the dead hold none. A name that another user has taken is no obstacle.
base::Result<base::UniqueFd, int> claim_service(const Address& address, std::uint64_t service_id);

// Writes all of it, or false; for frames that fit into any socket buffer.
bool write_frame(int fd, std::span<const std::byte> frame);

// Of what was written, the bytes that the peer's window has not let out yet.
std::size_t bytes_unsent(int fd);

// The address of the peer, and the segment size that the path allows now.
Address remote_address(int fd);
std::size_t segment_size(int fd);

}  // namespace softdat::transport::tcp
