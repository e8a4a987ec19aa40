// SPDX-License-Identifier: BSD-2-Clause
// Whether the process at the other end of a local socket has closed it. Any thread; never blocks.
#pragma once

#include <poll.h>

namespace softdat::base {

// True also while packets wait to be read. False, too, if `socket` is no open descriptor.
inline bool has_hung_up(int socket) {
  pollfd entry = {.fd = socket, .events = 0, .revents = 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

}  // namespace softdat::base
