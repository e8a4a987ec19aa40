// SPDX-License-Identifier: BSD-2-Clause
// write(2) and pwrite(2) that raise no signal. The default action of SIGPIPE (nobody reads the pipe any more) and of
// SIGXFSZ (the file is as long as RLIMIT_FSIZE allows) ends the process, and a handler of the consumer's would be
// called for a write that is not the consumer's.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>

namespace softdat::base {

// As write(2), and as pwrite(2): the failure is EPIPE or EFBIG in errno. Signals that the consumer has pending stay
// pending. Any thread; no cancellation point.
ssize_t quiet_write(int fd, std::span<const std::byte> bytes);
ssize_t quiet_pwrite(int fd, std::span<const std::byte> bytes, off_t offset);

}  // namespace softdat::base
