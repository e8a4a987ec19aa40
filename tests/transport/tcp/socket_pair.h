// SPDX-License-Identifier: BSD-2-Clause
// SocketPair: two connected stream sockets that do not block, one to read from and one to write to.
#pragma once

#include <sys/socket.h>

#include "base/assert.h"
#include "base/unique_fd.h"

namespace softdat::transport::tcp {

struct SocketPair {
  SocketPair() {
    int ends[2];
    base::check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0, "a socket pair");
    reader.reset(ends[0]);
    writer.reset(ends[1]);
  }

  base::UniqueFd reader;
  base::UniqueFd writer;
};

}  // namespace softdat::transport::tcp
