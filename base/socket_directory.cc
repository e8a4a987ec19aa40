// SPDX-License-Identifier: BSD-2-Clause
#include "base/socket_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/shared_memory_directory.h"
#include "base/uncancelled.h"

namespace softdat::base {
namespace {

constexpr int kBacklog = 4096;
constexpr int kMostEntries = 4096;  // that a look through a directory reads
// A process that was stopped with the lock in hand must not stop others. They go on without the lock, or to the next
// directory if they need it to unlink a stale file.
constexpr int kLockTries = 50;
constexpr std::chrono::milliseconds kLockPause{1};
// Listeners that leave remove an empty directory, perhaps between our open() and bind(). Where hundreds come and go,
// this happens many times over. It is tried again for so long, and at least so many times: a process that gets no
// processor tries seldom.
class DirectoryPatience {
 public:
  bool allows_another() { return ++tries_ < kFewest || Clock::now() < deadline_; }

 private:
  static constexpr int kFewest = 200;
  const Time deadline_ = Clock::now() + std::chrono::seconds(1);
  int tries_ = 0;
};

std::array<std::string, 4> candidates(const SocketUser& user) {
  const std::string uid = std::to_string(user.uid);
  return {user.runtime_directory.starts_with('/') ? user.runtime_directory + "/softdat" : std::string(),
          "/run/user/" + uid + "/softdat", std::string(kSharedMemoryDirectory) + "/softdat-" + uid,
          "/tmp/softdat-" + uid};
}

SocketUser this_user() {
  const char* const runtime = ::secure_getenv("XDG_RUNTIME_DIR");
  return {.uid = ::geteuid(), .runtime_directory = runtime == nullptr ? "" : runtime};
}

std::array<std::string, 4> candidates() {
  return candidates(this_user());
}

// 0, or an errno that says why the directory cannot be used.
// Mode 0700 and the owner keep other users from placing sockets or symbolic links there. Checked on the open
// descriptor, because the path may change meanwhile.
int refusal_of(int directory, uid_t owner) {
  struct stat found = {};
  if (::fstat(directory, &found) != 0) return errno;
  if (!S_ISDIR(found.st_mode)) return ENOTDIR;
  if (found.st_uid != owner) return EPERM;
  return (found.st_mode & 07777) == S_IRWXU ? 0 : EPERM;
}

// A directory that passed the checks, open.
struct Directory {
  UniqueFd fd;  // empty: see error
  int error = ENOENT;
  std::string path;
};

Directory open_directory(const std::string& path, uid_t owner = ::geteuid()) {
  Directory result{.fd = {}, .path = path};
  if (path.empty()) return result;
  result.fd.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  result.error = result.fd ? refusal_of(result.fd.get(), owner) : errno;
  if (result.error != 0) result.fd.reset();
  return result;
}

// fchmodat() takes away what the umask, a default ACL or the parent's set-group-ID bit have done to the mode. What has
// the name by now may be a symbolic link of another user.
Directory make_directory(const std::string& path) {
  DirectoryPatience patience;
  for (;;) {
    Directory found = open_directory(path);
    if (found.error != ENOENT || path.empty() || !patience.allows_another()) return found;
    const bool is_made = ::mkdir(path.c_str(), S_IRWXU) == 0;
    const int error = errno;
    if (is_made) static_cast<void>(::fchmodat(AT_FDCWD, path.c_str(), S_IRWXU, AT_SYMLINK_NOFOLLOW));
    if (is_made || error == EEXIST) continue;
    found.error = error;
    return found;
  }
}

// Leaves no empty directory behind.
Directory try_directory(const std::string& path) {
  Directory made = make_directory(path);
  if (made.fd) static_cast<void>(::rmdir(path.c_str()));
  return made;
}

// Held by a process that unlinks stale files, or makes the file of a listener, so that there is one at a time.
class DirectoryLock {
 public:
  DirectoryLock(int directory, int tries) {
    for (int i = 0; i < tries && !is_held_; ++i) {
      if (i > 0) std::this_thread::sleep_for(kLockPause);
      is_held_ = ::flock(directory, LOCK_EX | LOCK_NB) == 0;
      if (!is_held_ && errno != EWOULDBLOCK && errno != EINTR) return;
    }
    directory_ = directory;
  }
  ~DirectoryLock() {
    if (is_held_) ::flock(directory_, LOCK_UN);
  }
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  bool is_held() const { return is_held_; }

 private:
  int directory_ = -1;
  bool is_held_ = false;
};

// Goes through the open directory, so that the path cannot be given to another one meanwhile; by path where /proc is
// not mounted. False: the path is too long.
bool to_socket_address(const Directory& directory, const std::string& name, sockaddr_un& to) {
  std::string path = "/proc/self/fd/" + std::to_string(directory.fd.get());
  struct stat found = {};
  if (::stat(path.c_str(), &found) != 0) path = directory.path;
  path += '/' + name;
  if (path.size() >= sizeof to.sun_path) return false;
  to = {};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path.c_str(), path.size() + 1);
  return true;
}

// The outcome of bind() or connect() on a new socket of that type.
template <typename Call>
SocketResult open_at(const Directory& directory, const std::string& name, int type, Call call) {
  SocketResult result;
  sockaddr_un address;
  result.error = ENAMETOOLONG;
  if (!to_socket_address(directory, name, address)) return result;
  result.fd.reset(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const bool is_done =
      result.fd && call(result.fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  result.error = is_done ? 0 : errno;
  if (!is_done) result.fd.reset();
  return result;
}

SocketResult connect_in(const Directory& directory, const std::string& name, int type = SOCK_SEQPACKET) {
  return open_at(directory, name, type, ::connect);
}

// A name is free, or has a file whose process has died, or a listener. kUnknown: this process lacks the descriptors or
// the memory to ask.
enum class Occupant { kNone, kStale, kLive, kUnknown };

// One system call decides, because another process may unlink a stale file at any moment. A socket of another type
// asks, so that a listener does not hear of it: a live one answers EPROTOTYPE, and a file without a socket
// ECONNREFUSED.
Occupant occupant_of(const Directory& directory, const std::string& name) {
  switch (connect_in(directory, name, SOCK_STREAM).error) {
    case ENOENT:
      return Occupant::kNone;
    case ECONNREFUSED:
      return Occupant::kStale;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case ENAMETOOLONG:
      return Occupant::kUnknown;
    default:
      return Occupant::kLive;
  }
}

// Under the lock. False: a process has its socket open, or may have it.
bool unlink_if_stale(const Directory& directory, const std::string& name) {
  const Occupant occupant = occupant_of(directory, name);
  if (occupant != Occupant::kStale) return occupant == Occupant::kNone;
  return ::unlinkat(directory.fd.get(), name.c_str(), 0) == 0;
}

// False: another process has the lock, or the socket open. A stale name changes hands only under the lock.
bool unlink_stale(const Directory& directory, const std::string& name) {
  const Occupant occupant = occupant_of(directory, name);
  if (occupant != Occupant::kStale) return occupant == Occupant::kNone;
  // Between the first look and the lock another process may have replaced the file by a live listener: look again.
  const DirectoryLock lock(directory.fd.get(), 1);
  return lock.is_held() && unlink_if_stale(directory, name);
}

// Binds the name and listens, under the lock. While bind(2) makes the file, the file has no socket yet and looks stale;
// a process that saw it at that moment would unlink it a moment later. A stopped process may hold the lock: then the
// listener goes on without it, and the race is only unlikely.
SocketResult listen_at(const Directory& directory, const std::string& name) {
  const DirectoryLock lock(directory.fd.get(), kLockTries);
  SocketResult result = open_at(directory, name, SOCK_SEQPACKET, ::bind);
  if (result.error == EADDRINUSE && lock.is_held() && unlink_if_stale(directory, name)) {
    result = open_at(directory, name, SOCK_SEQPACKET, ::bind);
  }
  if (!result.fd) return result;
  const bool listens = ::fchmodat(directory.fd.get(), name.c_str(), S_IRUSR | S_IWUSR, 0) == 0 &&
                       ::listen(result.fd.get(), kBacklog) == 0;
  return listens ? std::move(result) : SocketResult{.fd = {}, .error = errno};
}

SocketResult listen_in(const std::string& path, const std::string& name) {
  DirectoryPatience patience;
  for (;;) {
    const Directory directory = make_directory(path);
    if (!directory.fd) return {.fd = {}, .error = directory.error};
    SocketResult result = listen_at(directory, name);
    if (result.error != ENOENT || !patience.allows_another()) return result;
  }
}

// Calls act(name) for the entries of the directory until it returns false.
template <typename Act>
void for_each_entry(const Directory& directory, Act act) {
  // A descriptor of its own, because the stream closes it; not kept beyond this function.
  const int fd = ::openat(directory.fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd < 0 ? nullptr : ::fdopendir(fd), ::closedir);
  for (int i = 0; entries && i < kMostEntries; ++i) {
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr || !act(std::string(entry->d_name))) return;
  }
}

}  // namespace

SocketFile::SocketFile(std::string directory, const std::string& name)
    : directory_(std::move(directory)), path_(directory_ + '/' + name), owner_(::getpid()) {}

void SocketFile::claim() {
  struct stat found = {};
  if (::lstat(path_.c_str(), &found) != 0) return;
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

SocketFile& SocketFile::operator=(SocketFile&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(path_, other.path_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  std::swap(owner_, other.owner_);
  return *this;
}

SocketFile::~SocketFile() {
  // A child made by fork() inherits the object, but the file belongs to the parent.
  if (path_.empty() || owner_ != ::getpid()) return;
  const Uncancelled guard;
  struct stat found = {};
  // The name may belong to another process's file by now.
  if (::lstat(path_.c_str(), &found) != 0 || found.st_dev != device_ || found.st_ino != inode_) return;
  if (::unlink(path_.c_str()) == 0) static_cast<void>(::rmdir(directory_.c_str()));
}

namespace socket_directory {

// Tries to make the directories, because one that is missing may be impossible to make.
std::string problem() {
  const Uncancelled guard;
  std::string reasons;
  for (const std::string& path : candidates()) {
    const Directory directory = try_directory(path);
    if (directory.fd) return {};
    if (path.empty()) continue;
    const bool is_foreign = directory.error == EPERM || directory.error == ELOOP || directory.error == ENOTDIR;
    reasons += (reasons.empty() ? "" : ", ") + path + ": " +
               (is_foreign ? "not a directory of this user with mode 0700" : std::strerror(directory.error));
  }
  return "no directory for socket files (" + reasons + "); set XDG_RUNTIME_DIR to a directory of this user";
}

bool is_live(const std::string& name) {
  const Uncancelled guard;
  const auto paths = candidates();
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    const Directory directory = open_directory(path);
    return directory.fd && occupant_of(directory, name) == Occupant::kLive;
  });
}

Listening listen(const std::string& name) {
  const Uncancelled guard;
  Listening result;
  result.error = ENOENT;
  const auto paths = candidates();
  // Users of different environments may listen in different directories, so a name is taken if it is live in any.
  const bool is_taken = is_live(name);
  if (is_taken) result.error = EADDRINUSE;
  for (const std::string& path : paths) {
    if (is_taken || path.empty()) continue;
    // Before the file is made: a file without an owner would stay if memory runs out.
    SocketFile owned(path, name);
    SocketResult made = listen_in(path, name);
    if (made.fd) {
      owned.claim();
      return {.socket = std::move(made.fd), .file = std::move(owned)};
    }
    result.error = made.error;
    // Another process has taken the name since the look above.
    if (made.error == EADDRINUSE && is_live(name)) break;
  }
  return result;
}

SocketResult connect(const std::string& name) {
  return connect(name, this_user());
}

SocketResult connect(const std::string& name, const SocketUser& user) {
  const Uncancelled guard;
  SocketResult result;
  result.error = ECONNREFUSED;
  for (const std::string& path : candidates(user)) {
    const Directory directory = open_directory(path, user.uid);
    if (!directory.fd) continue;
    SocketResult found = connect_in(directory, name);
    // Only these errors prove that nobody listens in this directory. Another error, such as EAGAIN for a full backlog,
    // is the answer.
    const bool is_nobody = found.error == ENOENT || found.error == ECONNREFUSED || found.error == ENAMETOOLONG;
    if (!is_nobody) return found;
    if (found.error == ECONNREFUSED && unlink_stale(directory, name)) static_cast<void>(::rmdir(path.c_str()));
  }
  return result;
}

// REQUIRES: `is_wanted` is cheap. Only wanted names cost a connect().
std::string find_live(const std::function<bool(const std::string&)>& is_wanted) {
  const Uncancelled guard;
  std::string found;
  for (const std::string& path : candidates()) {
    const Directory directory = open_directory(path);
    if (!directory.fd || !found.empty()) continue;
    for_each_entry(directory, [&](const std::string& entry) {
      if (is_wanted(entry) && occupant_of(directory, entry) == Occupant::kLive) found = entry;
      return found.empty();
    });
  }
  return found;
}

// True if the name is in no directory any more. Others may be removing it at the same time.
bool remove_if_stale(const std::string& name) {
  const Uncancelled guard;
  bool is_gone = true;
  for (const std::string& path : candidates()) {
    const Directory directory = open_directory(path);
    if (!directory.fd || occupant_of(directory, name) == Occupant::kNone) continue;
    is_gone = unlink_stale(directory, name) && is_gone;
    static_cast<void>(::rmdir(path.c_str()));
  }
  return is_gone;
}

void sweep() {
  const Uncancelled guard;
  for (const std::string& path : candidates()) {
    const Directory directory = open_directory(path);
    if (!directory.fd) continue;
    for_each_entry(directory, [&](const std::string& entry) {
      // Names of listeners have three dashes at least; other files in the directory are not ours to remove.
      if (std::count(entry.begin(), entry.end(), '-') >= 3) static_cast<void>(unlink_stale(directory, entry));
      return true;
    });
    static_cast<void>(::rmdir(path.c_str()));
  }
}

std::string path(const std::string& name) {
  for (const std::string& path : candidates()) {
    if (try_directory(path).fd) return path + '/' + name;
  }
  return {};
}

}  // namespace socket_directory
}  // namespace softdat::base
