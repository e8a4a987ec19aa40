// SPDX-License-Identifier: BSD-2-Clause
#include "tests/fuzz/memory_link.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <utility>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/poison.h"

extern "C" {
int __real_memfd_create(const char* name, unsigned flags);
int __real_ftruncate(int fd, off_t length);
void* __real_mmap(void* where, std::size_t length, int protection, int flags, int fd, off_t offset);
int __real_munmap(void* where, std::size_t length);
int __real_fcntl(int fd, int command, void* argument);
int __real_fstat(int fd, struct stat* status);
int __real_close(int fd);
ssize_t __real_recvmsg(int fd, msghdr* message, int flags);
ssize_t __real_recv(int fd, void* to, std::size_t length, int flags);
ssize_t __real_sendmsg(int fd, const msghdr* message, int flags);
ssize_t __real_send(int fd, const void* bytes, std::size_t length, int flags);
int __real_shutdown(int fd, int how);
int __real_getsockopt(int fd, int level, int name, void* value, socklen_t* length);
int __real_setsockopt(int fd, int level, int name, const void* value, socklen_t length);
int __real_poll(pollfd* entries, nfds_t count, int timeout);
}

namespace softdat::fuzz {
namespace {

using namespace transport::shm;

// No descriptors of the process have these numbers.
constexpr int kSocket = 40000;
constexpr int kMemory = 40001;
constexpr std::size_t kFront = 2 * kPage;
constexpr std::size_t kMirrored = 2 * MemoryLink::kRingBytes;

struct Packet {
  std::span<const std::byte> bytes;
  bool is_cut;
};

struct State {
  bool is_there = false;
  std::deque<Packet> packets;
  bool has_hung_up = false;  // the peer, or we ourselves
  bool is_memory_open = false;
  int mapped_rings = 0;
} state;
// The reaper's thread may close it, so it is apart.
std::atomic<bool> is_socket_open{false};

void expect_mapped(const void* got) {
  expect(got != MAP_FAILED, "the test has memory");
}

// The mappings of a segment, as Segment makes them, with nothing before and behind them that could be read.
struct Mappings {
  std::byte* front = nullptr;
  std::array<std::byte*, 2> rings{};

  Mappings() {
    const int file = __real_memfd_create("softdat-fuzz", MFD_CLOEXEC);
    const off_t size = static_cast<off_t>(kFront + kMirrored);
    expect(file >= 0 && __real_ftruncate(file, size) == 0, "the test has a memfd");
    front = reserve(kFront);
    map(front, kFront, file, 0);
    for (std::size_t i = 0; i < rings.size(); ++i) {
      const std::size_t offset = kFront + i * MemoryLink::kRingBytes;
      rings[i] = reserve(kMirrored);
      map(rings[i], MemoryLink::kRingBytes, file, offset);
      map(rings[i] + MemoryLink::kRingBytes, MemoryLink::kRingBytes, file, offset);
    }
    __real_close(file);
  }

 private:
  static std::byte* reserve(std::size_t length) {
    void* const space = __real_mmap(nullptr, length + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    expect_mapped(space);
    return static_cast<std::byte*>(space) + kPage;
  }
  static void map(std::byte* where, std::size_t length, int file, std::size_t offset) {
    expect_mapped(
        __real_mmap(where, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, static_cast<off_t>(offset)));
  }
};

Mappings& mappings() {
  static Mappings mappings;
  return mappings;
}

// Most of a segment is never written by one input, and is only looked at: by words, past the sanitizers, to which it is
// one access each.
#if defined(__clang__)
__attribute__((no_sanitize("address", "thread", "undefined")))
#else
__attribute__((no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif
bool is_clear(const std::byte* from, std::size_t length) {
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < length / sizeof any; ++i) any |= reinterpret_cast<const std::uint64_t*>(from)[i];
  return any == 0;
}

void clear(std::byte* from, std::size_t length) {
  constexpr std::size_t kPart = 512;
  static_assert(kPage % kPart == 0 && MemoryLink::kRingBytes % kPart == 0);
  for (std::size_t at = 0; at < length; at += kPart) {
    if (!is_clear(from + at, kPart)) std::memset(from + at, 0, kPart);
  }
}

bool is_open(int number) {
  return number == kSocket ? is_socket_open.load() : state.is_memory_open;
}
bool is_ours(int number) {
  return number == kSocket || number == kMemory;
}

ssize_t receive(msghdr& message, bool peeks) {
  if (state.packets.empty()) {
    message.msg_controllen = 0;
    message.msg_flags = 0;
    if (state.has_hung_up) return 0;
    errno = EAGAIN;
    return -1;
  }
  const Packet packet = state.packets.front();
  if (!peeks) state.packets.pop_front();
  const iovec room = message.msg_iov[0];
  const std::size_t length = std::min(packet.bytes.size(), room.iov_len);
  fill_and_poison_rest(static_cast<std::byte*>(room.iov_base), packet.bytes.first(length),
                       peeks ? length : room.iov_len);
  message.msg_controllen = 0;
  message.msg_flags = (packet.is_cut ? MSG_CTRUNC : 0) | (length < packet.bytes.size() ? MSG_TRUNC : 0);
  return static_cast<ssize_t>(length);
}

// The next of what a segment maps, in its order.
void* map_next(std::size_t length, int fd) {
  if (fd == kMemory) {
    expect(length == kFront, "a segment maps its front first");
    return mappings().front;
  }
  return mappings().rings[static_cast<std::size_t>(state.mapped_rings++)];
}
bool is_mapping(const void* where) {
  return where == mappings().front || where == mappings().rings[0] || where == mappings().rings[1];
}

}  // namespace

MemoryLink::MemoryLink() {
  clear(mappings().front, kFront);
  for (std::byte* ring : mappings().rings) clear(ring, kRingBytes);
  state = {};
  state.is_there = true;
  is_socket_open = true;
}
MemoryLink::~MemoryLink() {
  expect(!state.is_memory_open, "a link that has ended leaves no memory open");
  // A socket in which packets with descriptors are left is closed by the reaper.
  is_socket_open.wait(true);
  state = {};
}
int MemoryLink::socket() const {
  return kSocket;
}
RingMemory MemoryLink::ring_of(Side side) const {
  const auto index = static_cast<std::size_t>(side);
  return {reinterpret_cast<RingControl*>(mappings().front + kPage) + index, mappings().rings[index], kRingBytes};
}
void MemoryLink::send_packet(std::span<const std::byte> bytes, bool is_cut) {
  if (!state.has_hung_up) state.packets.push_back({bytes, is_cut});
}
void MemoryLink::hang_up() {
  state.has_hung_up = true;
}
bool MemoryLink::is_readable() const {
  return is_socket_open && (state.has_hung_up || !state.packets.empty());
}
class MemoryReactor::LinkWatch final : public Watch {
 public:
  LinkWatch(MemoryReactor& reactor, transport::ReadinessSink& sink) : reactor_(reactor), sink_(sink) {}
  ~LinkWatch() override {
    if (reactor_.watch_ == this) reactor_.watch_ = nullptr;
  }
  void want(std::uint32_t readiness) override { is_wanted_ = is_wanted_ || (readiness & transport::kReadable) != 0; }
  // False: it is not ready, or not wanted.
  bool tell() {
    const bool is_ready = is_socket_open && (state.has_hung_up || !state.packets.empty());
    if (!is_ready || !std::exchange(is_wanted_, false)) return false;
    sink_.on_ready(transport::kReadable);
    return true;
  }

 private:
  MemoryReactor& reactor_;
  transport::ReadinessSink& sink_;
  bool is_wanted_ = false;
};

// What else is watched (listeners) is never ready.
std::unique_ptr<transport::Reactor::Watch> MemoryReactor::watch(int fd, transport::ReadinessSink& sink) {
  auto watch = std::make_unique<LinkWatch>(*this, sink);
  if (fd == kSocket) watch_ = watch.get();
  return watch;
}

std::size_t MemoryReactor::dispatch(bool) {
  return watch_ != nullptr && watch_->tell() ? 1 : 0;
}

}  // namespace softdat::fuzz

// The linker's names of what was wrapped and of what wraps it.
extern "C" {
using namespace softdat::fuzz;

int __wrap_memfd_create(const char* name, unsigned flags) {
  if (!state.is_there || std::strcmp(name, "softdat-link") != 0) return __real_memfd_create(name, flags);
  state.is_memory_open = true;
  return kMemory;
}

int __wrap_ftruncate(int fd, off_t length) {
  if (fd != kMemory) return __real_ftruncate(fd, length);
  expect(length == static_cast<off_t>(kFront + kMirrored), "a segment has the size of its parts");
  return 0;
}

void* __wrap_mmap(void* where, std::size_t length, int protection, int flags, int fd, off_t offset) {
  if (fd == kMemory && where != nullptr) return where;  // a part of a ring, which is mapped already
  if (fd == -1 && is_mapping(where)) return where;      // a ring that is given back, whose address is kept
  const bool is_ring = state.is_memory_open && fd == -1 && protection == PROT_NONE && length == kMirrored;
  if (fd != kMemory && !is_ring) return __real_mmap(where, length, protection, flags, fd, offset);
  return map_next(length, fd);
}

int __wrap_munmap(void* where, std::size_t length) {
  return state.is_there && is_mapping(where) ? 0 : __real_munmap(where, length);
}

int __wrap_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return is_ours(fd) ? 0 : __real_fcntl(fd, command, argument);
}

int __wrap_fstat(int fd, struct stat* status) {
  if (!is_ours(fd)) return __real_fstat(fd, status);
  expect(is_open(fd), "a descriptor is not used after its end");
  *status = {};
  status->st_ino = static_cast<ino_t>(fd);
  return 0;
}

int __wrap_close(int fd) {
  if (!is_ours(fd)) return __real_close(fd);
  const bool was_open = fd == kSocket ? is_socket_open.exchange(false) : std::exchange(state.is_memory_open, false);
  expect(was_open, "a descriptor is closed once");
  if (fd == kSocket) is_socket_open.notify_one();
  return 0;
}

ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
  if (fd != kSocket) return __real_recvmsg(fd, message, flags);
  expect((flags & MSG_DONTWAIT) != 0, "a carrier never waits for a packet");
  return receive(*message, (flags & MSG_PEEK) != 0);
}

ssize_t __wrap_recv(int fd, void* to, std::size_t length, int flags) {
  if (fd != kSocket) return __real_recv(fd, to, length, flags);
  iovec room{to, length};
  msghdr message{};
  message.msg_iov = &room;
  message.msg_iovlen = 1;
  return receive(message, false);
}

ssize_t __wrap_sendmsg(int fd, const msghdr* message, int flags) {
  if (fd != kSocket) return __real_sendmsg(fd, message, flags);
  expect((flags & (MSG_DONTWAIT | MSG_NOSIGNAL)) == (MSG_DONTWAIT | MSG_NOSIGNAL), "a carrier never waits to send");
  if (!state.has_hung_up) return static_cast<ssize_t>(message->msg_iov[0].iov_len);
  errno = EPIPE;
  return -1;
}

ssize_t __wrap_send(int fd, const void* bytes, std::size_t length, int flags) {
  if (fd != kSocket) return __real_send(fd, bytes, length, flags);
  expect((flags & (MSG_DONTWAIT | MSG_NOSIGNAL)) == (MSG_DONTWAIT | MSG_NOSIGNAL), "a bell never waits");
  return static_cast<ssize_t>(length);
}

int __wrap_shutdown(int fd, int how) {
  if (fd != kSocket) return __real_shutdown(fd, how);
  state.has_hung_up = true;
  return 0;
}

int __wrap_getsockopt(int fd, int level, int name, void* value, socklen_t* length) {
  if (fd != kSocket) return __real_getsockopt(fd, level, name, value, length);
  errno = ENOPROTOOPT;  // an older kernel: no pidfd of the peer
  return -1;
}

int __wrap_setsockopt(int fd, int level, int name, const void* value, socklen_t length) {
  return fd == kSocket ? 0 : __real_setsockopt(fd, level, name, value, length);
}

int __wrap_poll(pollfd* entries, nfds_t count, int timeout) {
  if (count != 1 || entries->fd != kSocket) return __real_poll(entries, count, timeout);
  expect(timeout == 0, "a carrier never waits for a peer");
  entries->revents = state.has_hung_up ? POLLHUP : 0;
  return state.has_hung_up ? 1 : 0;
}
}
