// SPDX-License-Identifier: BSD-2-Clause
// Opens RDMA devices of this machine. The one header of this room that others include: it names
// nothing of libibverbs, whose headers only this room needs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "hca/device.h"

namespace softdat::verbs {

// `target` is the name of an RDMA device ("rxe0"), of a network interface, an IP address of this host that
// belongs to one, or nothing: the first. Otherwise the reason, in words for a person. Throws std::bad_alloc,
// std::system_error.
base::Result<std::unique_ptr<hca::Device>, std::string> open_device(const std::string& target);

// What could be opened, and what could not.
struct Listing {
  std::string name;     // "verbs:rxe0"; of a reason that concerns all of them "verbs"
  std::string details;  // "eth0, 10.1.2.3, RoCE"
  std::string problem;  // empty: it can be opened
};
std::vector<Listing> list_devices();

}  // namespace softdat::verbs
