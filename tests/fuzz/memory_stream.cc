// SPDX-License-Identifier: BSD-2-Clause
#include "tests/fuzz/memory_stream.h"

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/poison.h"

namespace softdat::fuzz {
namespace {

// No descriptor of the process has it.
constexpr int kNumber = 1 << 30;

// What the one stream holds.
std::span<const std::byte> waiting;
bool has_ended = false;

// As a stream socket does: what is there, up to the room that there is.
ssize_t take(std::span<const iovec> rooms) {
  if (waiting.empty() && !has_ended) {
    errno = EAGAIN;
    return -1;
  }
  std::size_t taken = 0;
  for (const iovec& room : rooms) {
    const std::size_t length = std::min(room.iov_len, waiting.size());
    fill_and_poison_rest(static_cast<std::byte*>(room.iov_base), waiting.first(length), room.iov_len);
    waiting = waiting.subspan(length);
    taken += length;
  }
  return static_cast<ssize_t>(taken);
}

}  // namespace

MemoryStream::MemoryStream() {
  waiting = {};
  has_ended = false;
}
MemoryStream::~MemoryStream() {
  waiting = {};
}
int MemoryStream::reader() const {
  return kNumber;
}
std::size_t MemoryStream::send(std::span<const std::byte> bytes) {
  expect(waiting.empty(), "a reader reads until nothing is left");
  waiting = bytes;
  return bytes.size();
}
void MemoryStream::end() {
  has_ended = true;
}

}  // namespace softdat::fuzz

// The linker's names of what was wrapped and of what wraps it.
extern "C" {
ssize_t __real_recv(int fd, void* to, std::size_t length, int flags);
ssize_t __real_readv(int fd, const iovec* rooms, int count);
int __real_ioctl(int fd, unsigned long request, void* argument);

ssize_t __wrap_recv(int fd, void* to, std::size_t length, int flags) {
  using namespace softdat::fuzz;
  if (fd != kNumber) return __real_recv(fd, to, length, flags);
  expect(flags == MSG_DONTWAIT, "a carrier never waits in recv()");
  const iovec room{to, length};
  return take(std::span(&room, 1));
}

ssize_t __wrap_readv(int fd, const iovec* rooms, int count) {
  using namespace softdat::fuzz;
  if (fd != kNumber) return __real_readv(fd, rooms, count);
  return take(std::span(rooms, static_cast<std::size_t>(count)));
}

int __wrap_ioctl(int fd, unsigned long request, ...) {
  using namespace softdat::fuzz;
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (fd != kNumber) return __real_ioctl(fd, request, argument);
  expect(request == FIONREAD, "of a stream only the bytes that wait are asked");
  *static_cast<int*>(argument) = static_cast<int>(waiting.size());
  return 0;
}
}
