// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/doorbell.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "base/uncancelled.h"

namespace softdat::transport::shm {

Doorbell Doorbell::create() {
  return Doorbell(base::UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
}

// An eventfd is an anonymous inode, which has no file type; a pipe or socket has one.
Doorbell Doorbell::adopt(base::UniqueFd fd) {
  struct stat status = {};
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fstat(fd.get(), &status) != 0) return {};
  if ((status.st_mode & S_IFMT) != 0 || (flags & O_NONBLOCK) == 0) return {};
  return Doorbell(std::move(fd));
}

void Doorbell::ring() const {
  const base::Uncancelled guard;
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then it rings anyway.
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);
}

void Doorbell::silence() const {
  const base::Uncancelled guard;
  std::uint64_t count;
  [[maybe_unused]] const ssize_t got = ::read(fd_.get(), &count, sizeof count);
}

}  // namespace softdat::transport::shm
