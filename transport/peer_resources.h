// SPDX-License-Identifier: BSD-2-Clause
// What a NIC shows the processes of its peers on this host, beside its connections with them: two files. A carrier over
// shared memory hands them over when two processes meet, and does not look into them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "base/unique_fd.h"

namespace softdat::transport {

// What a NIC has made of one peer's files.
class PeerResources {
 public:
  virtual ~PeerResources() = default;

 protected:
  PeerResources() = default;
  PeerResources(const PeerResources&) = delete;
  PeerResources& operator=(const PeerResources&) = delete;
};

inline constexpr std::size_t kResourceFiles = 2;
// Lent by their owner. As made, there are none.
struct ResourceFiles {
  std::array<int, kResourceFiles> fds{-1, -1};

  bool are_there() const { return fds[0] >= 0; }
};

// The NIC's side of it. Any thread. Outlives the carrier.
class ResourceExchange {
 public:
  // To be handed to every peer.
  virtual ResourceFiles resource_files() const = 0;
  // A peer has handed over its own. `process`: a pidfd of it; empty: it is this process, or none can be had. Null:
  // these are not the files of such a NIC, or there is no memory or no place for it.
  virtual std::shared_ptr<PeerResources> attach_peer(std::array<base::UniqueFd, kResourceFiles> files,
                                                     base::UniqueFd process) = 0;
  // The link with that peer is over. `has_hung_up`: the kernel has closed the peer's end.
  virtual void detach_peer(const std::shared_ptr<PeerResources>& peer, bool has_hung_up) = 0;

 protected:
  ~ResourceExchange() = default;
};

}  // namespace softdat::transport
