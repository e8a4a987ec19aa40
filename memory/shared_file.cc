// SPDX-License-Identifier: BSD-2-Clause
#include "memory/shared_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace softdat::memory {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr int kNoNewWriters = 0x0010;  // F_SEAL_FUTURE_WRITE, Linux 5.1

// Under mlockall() a new mapping would be filled from one end to the other, so that there is nothing to be had in it
// until it has been let off.
void* map_unlocked(int file, std::uint64_t offset, std::size_t length, int protection) {
  void* const got = ::mmap(nullptr, length, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, static_cast<off_t>(offset));
  if (got == MAP_FAILED) return nullptr;
  if (::munlock(got, length) == 0 && ::mprotect(got, length, protection) == 0) return got;
  ::munmap(got, length);
  return nullptr;
}

}  // namespace

int protection_of(SharedView::Rights rights) {
  if (rights == SharedView::Rights::kNone) return PROT_NONE;
  return rights == SharedView::Rights::kRead ? PROT_READ : PROT_READ | PROT_WRITE;
}

bool is_file_size_allowed(std::uint64_t bytes) {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  return limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes;
}

base::UniqueFd create_shared_file(const char* name, std::uint64_t bytes) {
  if (!is_file_size_allowed(bytes)) return {};
  base::UniqueFd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.get(), static_cast<off_t>(bytes)) != 0) return {};
  // Peers check these seals before they map: a file that shrank would raise SIGBUS at their next access.
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return {};
  return file;
}

void forbid_new_writers(int file) {
  // A kernel that does not know this seal leaves peers, which are of the same user, free to map the file for writing.
  static_cast<void>(::fcntl(file, F_ADD_SEALS, kNoNewWriters));
}

std::string shared_file_problem(std::uint64_t bytes) {
  const int error = errno;
  if (is_file_size_allowed(bytes)) return std::string("memfd_create: ") + std::strerror(error);
  return "the limit on file sizes (RLIMIT_FSIZE, ulimit -f) is below " + std::to_string(bytes) + " bytes; raise it";
}

// Seals first: F_GET_SEALS fails on any other file, and fstatfs() might wait for the server of a FUSE file system. A
// file of huge pages would fail at an access when the system has none left.
bool is_sealed_memory(int file) {
  const int seals = ::fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return false;
  struct statfs system = {};
  return ::fstatfs(file, &system) == 0 && system.f_type == TMPFS_MAGIC;
}

bool is_shared_file(int file, std::uint64_t bytes) {
  struct stat status = {};
  if (!is_sealed_memory(file) || ::fstat(file, &status) != 0) return false;
  return static_cast<std::uint64_t>(status.st_size) == bytes;
}

SharedView::SharedView(int file, std::uint64_t offset, std::size_t length, Rights rights) : length_(length) {
  void* const got = map_unlocked(file, offset, length, protection_of(rights));
  if (got == nullptr) return;
  data_ = static_cast<std::byte*>(got);
  static_cast<void>(::madvise(got, length, MADV_DONTDUMP));
}

void SharedView::keep_from_children() const {
  static_cast<void>(::madvise(data_, length_, MADV_DONTFORK));
}

SharedView::SharedView(SharedView&& other) noexcept {
  *this = std::move(other);
}

SharedView& SharedView::operator=(SharedView&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(length_, other.length_);
  return *this;
}

SharedView::~SharedView() {
  if (data_ != nullptr) ::munmap(data_, length_);
}

}  // namespace softdat::memory
