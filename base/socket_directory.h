// SPDX-License-Identifier: BSD-2-Clause
// The directories in which processes of one user meet, and the socket files in them.
//
// A listener binds its name in the first usable directory; a connector looks in every usable one. A directory is usable
// when it is a directory of the user, not a symbolic link, with mode 0700; a socket file has mode 0600. So the kernel's
// permission check decides who may connect and who may take a name; nothing here looks at the peer's uid. Candidates,
// in this order: $XDG_RUNTIME_DIR/softdat, /run/user/UID/softdat, /dev/shm/softdat-UID, /tmp/softdat-UID.
//
// A process that dies leaves its files. A file without a socket is stale; listen(), connect(), sweep() and
// remove_if_stale() unlink stale files under a lock of the directory. A listener makes its file under the same lock, so
// that no process takes it for stale meanwhile.
// docs/decisions/0014-who-may-share-memory.md gives the reasons. Sockets are SOCK_SEQPACKET, non-blocking and closed on
// exec. Any thread.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/unique_fd.h"

namespace softdat::base {

struct SocketResult {
  UniqueFd fd;    // empty: see error
  int error = 0;  // an errno
};

// The file of a listening socket. Owned by the listener.
class SocketFile {
 public:
  SocketFile() = default;
  // A name in that directory. It owns nothing yet.
  SocketFile(std::string directory, const std::string& name);
  SocketFile(SocketFile&& other) noexcept { *this = std::move(other); }
  SocketFile& operator=(SocketFile&& other) noexcept;
  // Makes it the owner of the file that has the name now. Never allocates.
  void claim();
  // Unlinks the file if it is still the one that was claimed, and the directory if it is empty then. Must run before
  // the socket is closed, or the name may be another listener's. A child made by fork() unlinks nothing. Never
  // allocates.
  ~SocketFile();

 private:
  std::string directory_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  pid_t owner_ = 0;
};

struct Listening {
  UniqueFd socket;  // empty: see error
  SocketFile file;
  int error = 0;  // EADDRINUSE: another process listens there. Else the errno of the last directory that refused
};

// Whose directories are looked through.
struct SocketUser {
  uid_t uid;
  std::string runtime_directory;  // its XDG_RUNTIME_DIR; empty: not known
};

// The effective user's directories. A name without '/' is a file in them.
namespace socket_directory {

// Why no directory can be used, in words for the user; empty when one can.
std::string problem();

// error EADDRINUSE: another process listens at that name.
Listening listen(const std::string& name);
// error ECONNREFUSED: no process listens there.
SocketResult connect(const std::string& name);
// The same in the directories of another user, for a process with permission (root).
SocketResult connect(const std::string& name, const SocketUser& user);

// A process has the socket of that name open: it listens, or is about to. It does not hear of the question.
bool is_live(const std::string& name);
// The first name that is wanted and at which a process listens; empty: there is none.
std::string find_live(const std::function<bool(const std::string&)>& is_wanted);

// Unlinks that file wherever no process has its socket open. False when one still has: ask again later.
bool remove_if_stale(const std::string& name);
// The same for every file in the directories, up to a bound.
void sweep();

// The path of a name in the first usable directory; empty: there is none. For tests.
std::string path(const std::string& name);

}  // namespace socket_directory
}  // namespace softdat::base
