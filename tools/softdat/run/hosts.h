// SPDX-License-Identifier: BSD-2-Clause
// Hosts on one machine: network namespaces that one switch joins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdat::tools::run {

struct Host {
  std::string address;  // 10.77.0.1 is the first host's
  int network = -1;     // its network namespace, open as long as the process lives
};

// Makes so many hosts. This process gets a user namespace of its own unless it has the privilege to do without, and a
// network namespace of its own, which has the switch. Nothing is left of them when the last process in them has ended.
// Failure says what the system refuses, and what to do.
std::vector<Host> make_hosts(std::uint32_t count);

// The address of each of `count` hosts.
std::string host_address(std::uint32_t index);

}  // namespace softdat::tools::run
