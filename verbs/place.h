// SPDX-License-Identifier: BSD-2-Clause
// Where an adapter stands: which RDMA device, which port of it, and under which IP address.
#pragma once

#include <string>
#include <vector>

#include "base/ip_address.h"
#include "base/result.h"
#include "verbs/library.h"

namespace softdat::verbs {

struct Place {
  std::string device;     // "rxe0"
  std::string interface;  // "eth0": whose address it is
  std::uint8_t port = 1;
  base::IpAddress address{};  // port 0
};

// A candidate that turned out to be of no use, and why.
struct RejectedCandidate {
  std::string name;
  std::string reason;
};

// `target` is the name of an RDMA device, of a network interface, an IPv4 or IPv6 address that this
// host has, or nothing: the first that there is. In words for a person, why there is none.
base::Result<Place, std::string> find_place(const Library& library, const std::string& target);

// All that find_place could find, one for each RDMA device; and the devices that it could not.
std::vector<Place> find_all_places(const Library& library, std::vector<RejectedCandidate>& others);

}  // namespace softdat::verbs
