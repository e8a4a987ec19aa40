// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/shared_memory_claim.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <thread>

#include "base/shared_memory_directory.h"
#include "base/uncancelled.h"

namespace softdat::object {
namespace {

enum class Verdict { kAgreed, kDisputed, kGone };

// A directory that nobody else can put files into. Empty where there is none.
std::string directory() {
  const std::string path = std::string(base::kSharedMemoryDirectory) + "/softdat-lmr-" + std::to_string(::geteuid());
  ::mkdir(path.c_str(), S_IRWXU);
  struct stat found {};
  const bool is_ours = ::lstat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() &&
                       (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
  return is_ours ? path : std::string();
}

std::string path_of(const SharedCookie& cookie) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string path = directory();
  if (path.empty()) return path;
  path += '/';
  for (const char byte : cookie) {
    path += kDigits[static_cast<unsigned char>(byte) >> 4];
    path += kDigits[static_cast<unsigned char>(byte) & 15];
  }
  return path;
}

// Locks of the open file, not of the process: two registrations of one process count as two.
bool lock(int fd, short kind) {
  struct flock whole {};
  whole.l_type = kind;
  whole.l_whence = SEEK_SET;
  int result = 0;
  do result = ::fcntl(fd, F_OFD_SETLK, &whole);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

// The holder needs microseconds, unless it has been stopped with the lock in hand.
bool lock_soon(int fd, short kind) {
  constexpr int kPauses = 50;
  for (int i = 0; i < kPauses; ++i) {
    if (lock(fd, kind)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return lock(fd, kind);
}

// Beyond the limit on file sizes a write would raise SIGXFSZ.
bool may_write() {
  rlimit limit = {};
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= sizeof(SharedIdentity);
}

bool has_name(int fd) {
  struct stat found {};
  return ::fstat(fd, &found) == 0 && found.st_nlink > 0;
}

// Alone with the file, its old contents mean nothing. Otherwise those who hold it have written it,
// and the reader's lock waits for one who is about to.
Verdict settle(int fd, const SharedIdentity& identity) {
  if (lock(fd, F_WRLCK)) {
    if (!has_name(fd)) return Verdict::kGone;
    const bool is_written = ::pwrite(fd, &identity, sizeof identity, 0) == sizeof identity;
    return lock(fd, F_RDLCK) && is_written ? Verdict::kAgreed : Verdict::kGone;
  }
  if (!lock_soon(fd, F_RDLCK) || !has_name(fd)) return Verdict::kGone;
  SharedIdentity known;
  const bool is_read = ::pread(fd, &known, sizeof known, 0) == sizeof known;
  return is_read && known == identity ? Verdict::kAgreed : Verdict::kDisputed;
}

// If all of the file can be locked, no process that has a claim on it is alive.
void remove_if_abandoned(const std::string& path) {
  const base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file && lock(file.get(), F_WRLCK)) ::unlink(path.c_str());
}

}  // namespace

void SharedMemoryClaim::remove_abandoned() {
  const std::string place = directory();
  if (place.empty()) return;
  std::error_code none;
  for (std::filesystem::directory_iterator it(place, none), end; !none && it != end; it.increment(none)) {
    remove_if_abandoned(it->path().string());
  }
}

std::unique_ptr<SharedMemoryClaim> SharedMemoryClaim::make(const SharedCookie& cookie, const SharedIdentity& identity) {
  const base::Uncancelled guard;
  static std::once_flag has_cleaned;
  std::call_once(has_cleaned, remove_abandoned);
  // A dispute with somebody who has just died, or a file that is just going, looks different the
  // next time.
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    const std::string path = path_of(cookie);
    if (path.empty() || !may_write()) break;
    base::UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
    if (!file && errno == ENOENT) continue;  // the directory has just gone with somebody else's last file
    if (!file) break;
    const Verdict verdict = settle(file.get(), identity);
    if (verdict == Verdict::kDisputed && i + 1 == kTries) return nullptr;
    if (verdict == Verdict::kAgreed) {
      return std::unique_ptr<SharedMemoryClaim>(new SharedMemoryClaim(cookie, std::move(file)));
    }
  }
  return std::unique_ptr<SharedMemoryClaim>(new SharedMemoryClaim(cookie, base::UniqueFd()));
}

// The last one takes the file away, and the last file the directory; whoever has opened it in the meantime sees that
// it has no name.
SharedMemoryClaim::~SharedMemoryClaim() {
  if (!file_ || !lock(file_.get(), F_WRLCK)) return;
  const std::string place = directory();
  ::unlink(path_of(cookie_).c_str());
  if (!place.empty()) ::rmdir(place.c_str());
}

}  // namespace softdat::object
