// SPDX-License-Identifier: BSD-2-Clause
// Which descriptors a library keeps that hides them behind an epoll set.
#pragma once

#include <vector>

namespace softdat::transport {

// The numbers of the epoll set that watches `watched`, and of everything else that it watches, as /proc tells. None
// when /proc does not tell, or memory or descriptors are lacking. `watched` is the caller's, with an inode of its own.
std::vector<int> find_epoll_descriptors(int watched) noexcept;

}  // namespace softdat::transport
