// SPDX-License-Identifier: BSD-2-Clause
#include "transport/shm/reaper.h"

#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "base/own_threads.h"
#include "base/per_process.h"
#include "base/uncancelled.h"
#include "memory/fork_handlers.h"
#include "transport/lock_places.h"

namespace softdat::transport::shm {
namespace {

// One packet carries 253 descriptors at most, so what was received before the reaper counted as full finds room.
constexpr std::size_t kMost = 4096;
constexpr std::size_t kFull = 1024;
// Connections of a listener that the caller closes itself; the reaper closes the others with the listener.
constexpr int kMostPending = 256;
// Packets without descriptors that the caller reads itself before it closes a socket.
constexpr int kMostRead = 64;

// Code that runs must not be unloaded.
void pin_this_library() {
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<const void*>(&pin_this_library), &info) == 0 || info.dli_fname == nullptr) return;
  static_cast<void>(::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE));
}

class Reaper {
 public:
  // A child of fork() gets a new one: its parent's lock may be held, and its thread is not here.
  static Reaper& of_process() {
    static constinit base::PerProcess<Reaper*, locks::kReaperCreation> reapers;
    const auto reaper = reapers.lock(memory::fork_generation());
    if (*reaper == nullptr) *reaper = new Reaper;
    return **reaper;
  }

  // Without room the descriptor stays open. Callers ask is_full() before they receive one, so this does not happen.
  void add(int fd) {
    const std::lock_guard lock(mutex_);
    if (count_ < kMost) waiting_[count_++] = fd;
    if (!is_running_) is_running_ = starts();
  }
  bool is_full() {
    const std::lock_guard lock(mutex_);
    return count_ + (is_running_ ? 1 : 0) >= kFull;
  }

 private:
  bool starts() try {
    pin_this_library();
    // Detached: a close() may block for ever (a FUSE server that does not answer), and nobody can wait for it.
    base::start_own_thread([this] { run(); }).detach();
    return true;
  } catch (const std::system_error&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;  // the next descriptor tries again
  }

  void run() {
    const base::Uncancelled guard;
    for (int fd = next(); fd >= 0; fd = next()) ::close(fd);
  }
  // -1: all is closed, and the thread ends.
  int next() {
    const std::lock_guard lock(mutex_);
    if (count_ > 0) return waiting_[--count_];
    // Under the lock: add() either sees the thread running, which then looks again, or starts a new one.
    is_running_ = false;
    return -1;
  }

  base::Mutex<locks::kReaper> mutex_;
  // Guarded by mutex_.
  std::array<int, kMost> waiting_{};
  std::size_t count_ = 0;
  bool is_running_ = false;
};

enum class Head { kNothing, kHarmless, kUnknown };

// Looks at the first packet in the queue. Without a buffer for descriptors MSG_CTRUNC says that there are some. At an
// empty packet and at the end of the queue the length is 0; with SO_PASSCRED only a packet sets MSG_CTRUNC.
Head look_at_head(int socket) {
  std::byte byte;
  iovec vector = {&byte, sizeof byte};
  const auto peek = [&](int& flags) {
    msghdr message = {};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    const ssize_t got = ::recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT);
    flags = message.msg_flags;
    return got;
  };
  int flags = 0;
  const ssize_t length = peek(flags);
  if (length < 0) return Head::kNothing;
  if ((flags & MSG_CTRUNC) != 0) return Head::kUnknown;
  if (length > 0) return Head::kHarmless;
  const int on = 1;
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on));
  static_cast<void>(peek(flags));
  return (flags & MSG_CTRUNC) != 0 ? Head::kUnknown : Head::kNothing;
}

// Whether a close() of the socket closes nothing else. Nothing arrives any more.
bool is_drained(int socket) {
  ::shutdown(socket, SHUT_RDWR);
  for (int i = 0; i < kMostRead; ++i) {
    const Head head = look_at_head(socket);
    if (head != Head::kHarmless) return head == Head::kNothing;
    std::byte byte;
    static_cast<void>(::recv(socket, &byte, sizeof byte, MSG_DONTWAIT));
  }
  return false;
}

}  // namespace

void close_foreign(int fd) try {
  if (fd >= 0) Reaper::of_process().add(fd);
} catch (const std::bad_alloc&) {
  return;  // a child of fork() without memory for a reaper of its own: the descriptor stays open
}

void close_socket(base::UniqueFd socket) {
  const base::Uncancelled guard;
  if (!socket || !socket.is_intact()) return;
  if (!is_drained(socket.get())) close_foreign(socket.release());
}

void close_listener(base::UniqueFd listener) {
  const base::Uncancelled guard;
  if (!listener || !listener.is_intact()) return;
  ::shutdown(listener.get(), SHUT_RDWR);
  for (int i = 0; i < kMostPending; ++i) {
    base::UniqueFd pending(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!pending && (errno == EAGAIN || errno == EINVAL)) return;  // EINVAL: none is left
    if (!pending) break;
    close_socket(std::move(pending));
  }
  close_foreign(listener.release());
}

void prepare_reaper() {
  static_cast<void>(Reaper::of_process());
}

bool is_reaper_full() {
  return Reaper::of_process().is_full();
}

}  // namespace softdat::transport::shm
