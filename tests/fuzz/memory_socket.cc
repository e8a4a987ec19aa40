// SPDX-License-Identifier: BSD-2-Clause
#include "tests/fuzz/memory_socket.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/poison.h"

namespace softdat::fuzz {
namespace {

// No descriptors of the process have these numbers, and UniqueFd keeps account of them as of others.
constexpr int kSocket = 40000;
constexpr int kFirstFile = kSocket + 1;
constexpr int kSealsOfMemfd = F_SEAL_SHRINK | F_SEAL_GROW;

struct File {
  FileKind kind{};
  bool is_open = false;
  bool has_shown_seals = false;
};

MemoryPacket packet;
bool is_taken = false;
std::array<File, MemorySocket::kMostFiles> files;
std::size_t open_count = 0;

bool is_ours(int number) {
  return number >= kSocket && number < kFirstFile + static_cast<int>(files.size());
}
File& file_of(int number) {
  const auto index = static_cast<std::size_t>(number - kFirstFile);
  expect(number != kSocket && index < packet.files.size(), "only descriptors that were sent are used");
  expect(files[index].is_open, "a descriptor is not used after its end");
  return files[index];
}

// Appends one control message. Requires room for it.
void add_control(msghdr& message, int type, std::span<const std::byte> data) {
  cmsghdr part{};
  part.cmsg_level = SOL_SOCKET;
  part.cmsg_type = type;
  part.cmsg_len = CMSG_LEN(data.size());
  auto* const at = static_cast<std::byte*>(message.msg_control) + message.msg_controllen;
  std::memcpy(at, &part, sizeof part);
  std::copy(data.begin(), data.end(), at + CMSG_LEN(0));
  message.msg_controllen += CMSG_SPACE(data.size());
}

// As many descriptors as there is room for; the kernel closes the others. It says so in either case if some are
// missing.
void add_files(msghdr& message, std::size_t room) {
  const std::size_t left = room - message.msg_controllen;
  const std::size_t fit = left < CMSG_LEN(0) ? 0 : std::min((left - CMSG_LEN(0)) / sizeof(int), packet.files.size());
  expect(packet.has_credentials || fit == packet.files.size(), "there is room for all that a packet may carry");
  if (fit < packet.files.size()) message.msg_flags |= MSG_CTRUNC;
  if (fit == 0) return;
  std::array<int, MemorySocket::kMostFiles> numbers;
  open_count = fit;
  for (std::size_t i = 0; i < fit; ++i) {
    files[i] = {.kind = packet.files[i], .is_open = true};
    numbers[i] = kFirstFile + static_cast<int>(i);
  }
  add_control(message, SCM_RIGHTS, std::as_bytes(std::span(numbers).first(fit)));
}

ssize_t take_packet(msghdr& message) {
  if (is_taken) {
    errno = EAGAIN;
    return -1;
  }
  is_taken = true;
  const iovec room = message.msg_iov[0];
  const std::size_t length = std::min(packet.data.size(), room.iov_len);
  fill_and_poison_rest(static_cast<std::byte*>(room.iov_base), packet.data.first(length), room.iov_len);
  const std::size_t control_room = message.msg_controllen;
  message.msg_controllen = 0;
  message.msg_flags = (packet.is_cut ? MSG_CTRUNC : 0) | (length < packet.data.size() ? MSG_TRUNC : 0);
  const ucred credentials{};
  if (packet.has_credentials) add_control(message, SCM_CREDENTIALS, std::as_bytes(std::span(&credentials, 1)));
  add_files(message, control_room);
  return static_cast<ssize_t>(length);
}

void close_file(int number) {
  file_of(number).is_open = false;
  --open_count;
}

}  // namespace

MemorySocket::MemorySocket(const MemoryPacket& waiting) {
  expect(waiting.files.size() <= kMostFiles, "the kernel allows so many descriptors");
  packet = waiting;
  is_taken = false;
  open_count = 0;
  std::fill_n(files.begin(), packet.files.size(), File{});
}
MemorySocket::~MemorySocket() {
  packet = {};
}
int MemorySocket::number() const {
  return kSocket;
}
std::size_t MemorySocket::open_files() const {
  return open_count;
}
std::size_t MemorySocket::index_of(int number) const {
  static_cast<void>(file_of(number));
  return static_cast<std::size_t>(number - kFirstFile);
}

}  // namespace softdat::fuzz

// The linker's names of what was wrapped and of what wraps it. The last pair is close_foreign() of
// transport/shm/reaper.h.
extern "C" {
ssize_t __real_recvmsg(int fd, msghdr* message, int flags);
int __real_fcntl(int fd, int command, void* argument);
int __real_fstat(int fd, struct stat* status);
int __real_fstatfs(int fd, struct statfs* system);
int __real_close(int fd);
void __real__ZN7softdat9transport3shm13close_foreignEi(int fd);

ssize_t __wrap_recvmsg(int fd, msghdr* message, int flags) {
  using namespace softdat::fuzz;
  if (fd != kSocket) return __real_recvmsg(fd, message, flags);
  expect(flags == (MSG_CMSG_CLOEXEC | MSG_DONTWAIT),
         "a packet is received without waiting, its descriptors close on exec");
  return take_packet(*message);
}

int __wrap_fcntl(int fd, int command, ...) {
  using namespace softdat::fuzz;
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (!is_ours(fd)) return __real_fcntl(fd, command, argument);
  expect(command == F_GET_SEALS, "of a descriptor that was sent only the seals are asked");
  File& file = file_of(fd);
  if (file.kind == FileKind::kForeign) {
    errno = EINVAL;
    return -1;
  }
  file.has_shown_seals = true;
  return file.kind == FileKind::kUnsealedMemory ? F_SEAL_SEAL : kSealsOfMemfd;
}

int __wrap_fstat(int fd, struct stat* status) {
  using namespace softdat::fuzz;
  if (!is_ours(fd)) return __real_fstat(fd, status);
  expect(file_of(fd).has_shown_seals, "fstat() may block unless it is a memfd");
  *status = {};
  status->st_ino = static_cast<ino_t>(fd);
  return 0;
}

int __wrap_fstatfs(int fd, struct statfs* system) {
  using namespace softdat::fuzz;
  if (!is_ours(fd)) return __real_fstatfs(fd, system);
  const File& file = file_of(fd);
  expect(file.has_shown_seals, "fstatfs() may block unless it is a memfd");
  *system = {};
  system->f_type = file.kind == FileKind::kHugePages ? HUGETLBFS_MAGIC : TMPFS_MAGIC;
  return 0;
}

int __wrap_close(int fd) {
  using namespace softdat::fuzz;
  if (!is_ours(fd)) return __real_close(fd);
  expect(file_of(fd).kind == FileKind::kSealedMemory, "a receiving thread closes sealed memfds only");
  close_file(fd);
  return 0;
}

void __wrap__ZN7softdat9transport3shm13close_foreignEi(int fd) {
  using namespace softdat::fuzz;
  if (!is_ours(fd)) return __real__ZN7softdat9transport3shm13close_foreignEi(fd);
  close_file(fd);
}
}
