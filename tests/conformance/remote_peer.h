// SPDX-License-Identifier: BSD-2-Clause
// A peer in another process (peer_process.cc).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "tests/conformance/child_process.h"
#include "tests/conformance/peer.h"

namespace softdat::conformance {

// What the other process gives away when it accepts. It travels as it stands in memory: no byte of it may be padding,
// which nobody sets.
struct MemoryOffer {
  std::uint64_t address;
  DAT_RMR_CONTEXT context;
  std::uint32_t unused = 0;
};
static_assert(std::has_unique_object_representations_v<MemoryOffer>);

// How much it writes at a time when told to "fire".
inline constexpr std::size_t kFired = 64 * 1024;

class RemotePeer {
 public:
  // Starts the process, which becomes somebody else first if it is to; returns when it listens.
  explicit RemotePeer(Child::Become become = nullptr);

  // Requests a connection from the peer's endpoint. connect() also waits for both sides.
  DAT_RETURN request(Peer& client, std::string_view private_data = {});
  void connect(Peer& client);

  // A piece of the other process's memory.
  DAT_RMR_TRIPLET memory(std::size_t offset, std::size_t length) const;

  std::string ask(const std::string& command) { return child_.ask(command); }
  void tell(const std::string& command) { child_.write_line(command); }
  std::string read_line() { return child_.read_line(); }
  Child& process() { return child_; }

 private:
  DAT_CONN_QUAL qualifier_;
  Child child_;
  std::string address_;
  MemoryOffer offer_{};
};

}  // namespace softdat::conformance
