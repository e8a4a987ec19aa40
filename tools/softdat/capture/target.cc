// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/target.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/process_start.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/observe/snapshot.h"
#include "tools/softdat/process_directory.h"

namespace softdat::tools::capture {
namespace {

// The last number of NSpid is the process's number in its own PID namespace, by which it names its sockets.
std::uint32_t read_own_pid(const ProcessDirectory& process, pid_t pid) {
  std::ifstream file(process.path("status"));
  std::uint32_t own = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream words(line.substr(6));
    while (words >> own) {
    }
  }
  return own == 0 ? static_cast<std::uint32_t>(pid) : own;
}

// The directory in which the process may have put its sockets. A process that was killed does not tell its own; then it
// is ours. Empty if there is none.
std::string runtime_directory_of(const ProcessDirectory& process) {
  std::ifstream file(process.path("environ"));
  constexpr std::string_view kName = "XDG_RUNTIME_DIR=";
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.starts_with(kName)) return entry.substr(kName.size());
  }
  const char* const own = std::getenv("XDG_RUNTIME_DIR");
  return own == nullptr ? "" : own;
}

bool maps_softdat(const ProcessDirectory& process) {
  std::ifstream file(process.path("maps"));
  for (std::string line; std::getline(file, line);) {
    if (line.find("/libsoftdat.so") != line.npos) return true;
  }
  return false;
}

Failure no_such_process(pid_t pid) {
  return Failure(fmt::format("there is no process {}; softdat top lists processes on SoftDAT", pid));
}

// Whether the process listens there itself: another one of the user may have taken the name.
bool is_of(int socket, const Target& target) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.pid == target.pid;
}

}  // namespace

std::string Target::name() const {
  return fmt::format("process {} ({})", pid, program);
}

Target find_target(pid_t pid) {
  const ProcessDirectory process(pid);
  struct stat status = {};
  if (!process.is_open() && errno != ENOENT) {
    throw Failure(fmt::format("cannot open /proc/{}: {}", pid, std::strerror(errno)));
  }
  if (!process.is_open() || ::stat(process.path("").c_str(), &status) != 0) throw no_such_process(pid);
  Target target;
  target.pid = pid;
  target.own.pid = read_own_pid(process, pid);
  // The start time tells the process from a later one with the same number.
  target.own.start = base::read_process_start(process.path("stat").c_str()).value_or(0);
  target.user = {.uid = status.st_uid, .runtime_directory = runtime_directory_of(process)};
  struct stat space = {};
  if (::stat(process.path("ns/pid").c_str(), &space) == 0) target.own.pid_namespace = space.st_ino;
  std::ifstream names(process.path("comm"));
  std::getline(names, target.program);
  target.program = observe::printable(target.program);
  if (::geteuid() != 0 && status.st_uid != ::geteuid()) {
    throw Failure(fmt::format("{} belongs to user {}, not to user {}; run softdat capture as that user", target.name(),
                              status.st_uid, ::geteuid()));
  }
  target.has_softdat = maps_softdat(process);
  return target;
}

base::UniqueFd connect_to(const Target& target) {
  // A process has several sockets; another tool may hold the first ones.
  for (unsigned number = 0; number < base::kCaptureSockets; ++number) {
    const std::string name = base::capture_socket_name(target.own, number);
    base::SocketResult found = base::socket_directory::connect(name, target.user);
    if (found.fd && is_of(found.fd.get(), target)) return std::move(found.fd);
    if (found.error == EAGAIN) {
      throw Failure(
          fmt::format("{} takes no more requests; it may be stopped: kill -CONT {}", target.name(), target.pid));
    }
  }
  if (!target.has_softdat) {
    throw Failure(fmt::format("{} does not use SoftDAT; start it with softdat run", target.name()));
  }
  throw Failure(fmt::format(
      "{} has no simulated adapter open that can be captured: adapters of --transport loop and of RDMA devices cannot, "
      "nor those of a container with file systems of its own. Wait until it opens one, or start it with softdat run "
      "--capture FILE",
      target.name()));
}

}  // namespace softdat::tools::capture
