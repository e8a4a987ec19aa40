// SPDX-License-Identifier: BSD-2-Clause
#include "base/quiet_write.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/uncancelled.h"

namespace softdat::base {
namespace {

// Blocks SIGPIPE and SIGXFSZ for this thread, and takes back the one that the write has raised: such a signal is
// pending for the thread that wrote, so no other thread can have it.
template <class Write>
ssize_t without_signals(Write write) {
  const Uncancelled guard;
  sigset_t raised;
  sigset_t mask;
  sigset_t pending;
  sigemptyset(&raised);
  sigaddset(&raised, SIGPIPE);
  sigaddset(&raised, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &raised, &mask);
  // A signal that was pending before belongs to the program and must stay.
  sigpending(&pending);
  const ssize_t written = write();
  const int error = errno;
  if (written < 0 && (error == EPIPE || error == EFBIG)) {
    const int signal = error == EPIPE ? SIGPIPE : SIGXFSZ;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    constexpr timespec kNow{};
    // It may have been ignored, and then none is pending.
    if (sigismember(&pending, signal) == 0) static_cast<void>(sigtimedwait(&one, nullptr, &kNow));
  }
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  errno = error;
  return written;
}

}  // namespace

ssize_t quiet_write(int fd, std::span<const std::byte> bytes) {
  return without_signals([&] { return ::write(fd, bytes.data(), bytes.size()); });
}

ssize_t quiet_pwrite(int fd, std::span<const std::byte> bytes, off_t offset) {
  return without_signals([&] { return ::pwrite(fd, bytes.data(), bytes.size(), offset); });
}

}  // namespace softdat::base
