// SPDX-License-Identifier: BSD-2-Clause
// Files that a NIC hands to the processes of its peers on this host. A carrier over shared memory sends them when two
// processes meet, and does not look into them.
#pragma once

#include <array>
#include <cstddef>
#include <memory>

#include "base/unique_fd.h"

namespace softdat::transport {

// What a NIC has made of one peer's files, such as mappings.
class PeerResources {
 public:
  virtual ~PeerResources() = default;

 protected:
  PeerResources() = default;
  PeerResources(const PeerResources&) = delete;
  PeerResources& operator=(const PeerResources&) = delete;
};

inline constexpr std::size_t kResourceFiles = 2;
// Descriptors that belong to the NIC. -1: none.
struct ResourceFiles {
  std::array<int, kResourceFiles> fds{-1, -1};

  bool are_there() const { return fds[0] >= 0; }
};

// Implemented by the NIC. Any thread. Outlives the carrier.
class ResourceExchange {
 public:
  // The files for every peer.
  virtual ResourceFiles resource_files() const = 0;
  // Takes a peer's files. `process` is a pidfd of the peer; empty if it is this process, or if none can be had. Null if
  // the files are not those of a NIC, or if there is no memory or room for another peer.
  virtual std::shared_ptr<PeerResources> attach_peer(std::array<base::UniqueFd, kResourceFiles> files,
                                                     base::UniqueFd process) = 0;
  // The link with that peer has ended. `has_hung_up`: the kernel has closed the peer's end. False: the peer's process
  // may still be at our memory. Then the carrier calls again when the process has ended.
  virtual bool detach_peer(const std::shared_ptr<PeerResources>& peer, bool has_hung_up) = 0;

 protected:
  ~ResourceExchange() = default;
};

}  // namespace softdat::transport
