// SPDX-License-Identifier: BSD-2-Clause
// Rendezvous: the directories in which processes of one user meet, and the socket files in them.
//
// A listener binds `VERSION-NETNS-ADDRESS-SERVICE` in the first usable directory; a connector looks in every usable
// one. A directory is usable when it is a directory of the effective user, not a symbolic link, with mode 0700. So the
// kernel's permission check decides who may connect and who may take a name; nothing here looks at the peer's uid.
// Candidates, in this order: $XDG_RUNTIME_DIR/softdat, /run/user/UID/softdat, /dev/shm/softdat-UID, /tmp/softdat-UID.
//
// A process that dies leaves its files. A file without a socket is stale; listeners, sweep() and remove_if_stale()
// unlink stale files under a lock of the directory, so that two of them never unlink a live one.
// docs/decisions/0014-who-may-share-memory.md gives the reasons.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "base/ip_address.h"
#include "base/unique_fd.h"
#include "transport/shm/unix_socket.h"

namespace softdat::transport::shm {

// The file of a listening socket. Owned by the listener; with the baton.
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
  base::UniqueFd socket;  // empty: see error
  SocketFile file;
  int error = 0;  // EADDRINUSE: another process listens there. Else the errno of the last directory that refused
};

class Rendezvous {
 public:
  // Asks the system which network namespace this process is in.
  Rendezvous();

  // Why no directory can be used, in words for the user; empty when one can.
  std::string problem() const;

  Listening listen(const base::IpAddress& address, std::uint64_t service_id) const;
  // error ECONNREFUSED: nobody listens there.
  SocketResult connect(const base::IpAddress& address, std::uint64_t service_id) const;
  // The version of this protocol that a listener of another build has at that name; 0 when there is none.
  std::uint32_t other_version(const base::IpAddress& address, std::uint64_t service_id) const;

  // Unlinks that file wherever no process has its socket open. False when one still has: ask again later.
  bool remove_if_stale(const base::IpAddress& address, std::uint64_t service_id) const;
  // The same for every file in the directories, up to a bound.
  void sweep() const;

  // The path of a name in the first usable directory. For tests, and for people.
  std::string path(const base::IpAddress& address, std::uint64_t service_id) const;

 private:
  std::string suffix(const base::IpAddress& address, std::uint64_t service_id) const;
  std::string name(const base::IpAddress& address, std::uint64_t service_id) const;

  // Fixed after construction; empty: unknown, and then there is no rendezvous.
  std::string network_;
};

}  // namespace softdat::transport::shm
