// SPDX-License-Identifier: BSD-2-Clause
#include "base/unique_fd.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "base/descriptor_shortage.h"
#include "base/forks.h"
#include "base/uncancelled.h"

namespace softdat::base {
namespace {

constexpr int kFirstNumber = 3;
constexpr int kMostNumbers = 65536;

struct Identity {
  dev_t device;
  ino_t inode;
};

// The file that a UniqueFd holds at each number: a hash of the file's identity; 0 means nothing. The owner of the
// descriptor writes the word. A child of fork() reads them all while it has one thread.
constinit std::array<std::atomic<std::uint32_t>, kMostNumbers> g_held{};
// The number of the witness of each number that a ClosedInChild has; 0 means nothing.
constinit std::array<std::atomic<int>, kMostNumbers> g_witnesses{};
// No number from here on was ever held.
constinit std::atomic<int> g_end{0};

std::uint32_t hash_of(const Identity& file) {
  const std::uint64_t mixed = (file.inode * 31 + file.device) * 0x9e3779b97f4a7c15;
  return static_cast<std::uint32_t>(mixed >> 32) | 1;
}

// A file that the system does not describe (a seccomp filter may forbid it) counts as the same as before.
Identity identify(int fd) {
  struct stat status = {};
  const int error = errno;
  const bool is_known = ::fstat(fd, &status) == 0;
  errno = error;
  return is_known ? Identity{status.st_dev, status.st_ino} : Identity{};
}

void note_end(int fd) {
  int end = g_end.load(std::memory_order_relaxed);
  // Several threads may raise it at once; it only grows.
  while (end <= fd && !g_end.compare_exchange_weak(end, fd + 1, std::memory_order_relaxed)) continue;
}

void note(int fd, std::uint32_t hash) {
  if (fd >= kMostNumbers) return;
  g_held[static_cast<std::size_t>(fd)].store(hash, std::memory_order_relaxed);
  note_end(fd);
}

// False when a child of fork() was relieved of it, or another descriptor of ours has the number now.
bool forget(int fd, std::uint32_t hash) {
  if (fd >= kMostNumbers) return true;
  return g_held[static_cast<std::size_t>(fd)].compare_exchange_strong(hash, 0, std::memory_order_relaxed);
}

bool is_intact_in_child(int fd) {
  const std::uint32_t hash = g_held[static_cast<std::size_t>(fd)].load(std::memory_order_relaxed);
  return hash != 0 && hash == hash_of(identify(fd));
}

// Witnesses last.
void close_in_child() {
  const int end = g_end.load(std::memory_order_relaxed);
  for (int fd = kFirstNumber; fd < end; ++fd) {
    // A number that a foreign library owns (Asio's) is closed only if our descriptor beside it is still the same file:
    // then the program has not closed and reused the numbers.
    const int witness = g_witnesses[static_cast<std::size_t>(fd)].exchange(0, std::memory_order_relaxed);
    if (witness != 0 && is_intact_in_child(witness)) ::close(fd);
  }
  for (int fd = kFirstNumber; fd < end; ++fd) {
    const std::uint32_t hash = g_held[static_cast<std::size_t>(fd)].exchange(0, std::memory_order_relaxed);
    if (hash != 0 && hash == hash_of(identify(fd))) ::close(fd);
  }
}

[[gnu::constructor]] void close_in_children() {
  on_fork({.in_child = close_in_child});
}

// Leaves errno as it was.
void close_number(int fd) {
  const Uncancelled guard;
  const int error = errno;
  ::close(fd);
  errno = error;
}

int move_above_standard(int fd) {
  if (fd < 0 || fd >= kFirstNumber) return fd;
  const int higher = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstNumber);
  close_number(fd);
  return higher;
}

}  // namespace

UniqueFd open_witness(const char* name) {
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC));
  if (!file) file.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return file;
}

// A program that has closed its standard streams gets their numbers from open(); output to them would then go into our
// files.
void UniqueFd::adopt(int fd) {
  fd = move_above_standard(fd);
  if (fd < 0) {
    if (is_short_of_descriptors(errno)) note_descriptor_shortage(errno);
    return;
  }
  const Identity file = identify(fd);
  held_ = {fd, file.device, file.inode};
  note(fd, hash_of(file));
}

bool UniqueFd::is_intact() const {
  const Identity file = identify(held_.fd);
  return file.device == held_.device && file.inode == held_.inode;
}

int UniqueFd::release() {
  const Held held = std::exchange(held_, {});
  if (held.fd >= 0) static_cast<void>(forget(held.fd, hash_of({held.device, held.inode})));
  return held.fd;
}

void UniqueFd::close_held() {
  // The program may have closed our number and got it for a file of its own, which must stay open.
  const bool is_intact_file = is_intact();
  const Held held = std::exchange(held_, {});
  const bool is_ours = forget(held.fd, hash_of({held.device, held.inode}));
  if (is_ours && is_intact_file) close_number(held.fd);
}

ClosedInChild::ClosedInChild(const UniqueFd& witness, std::span<const int> numbers) {
  if (!witness || witness.get() >= kMostNumbers) return;
  for (const int fd : numbers) {
    if (fd < kFirstNumber || fd >= kMostNumbers || count_ == kMost) continue;
    g_witnesses[static_cast<std::size_t>(fd)].store(witness.get(), std::memory_order_relaxed);
    note_end(fd);
    numbers_[count_++] = fd;
  }
}

void ClosedInChild::forget() {
  for (; count_ > 0; --count_) {
    g_witnesses[static_cast<std::size_t>(numbers_[count_ - 1])].store(0, std::memory_order_relaxed);
  }
}

}  // namespace softdat::base
