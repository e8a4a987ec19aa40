// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/live.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/capture_control.h"
#include "base/socket_directory.h"
#include "base/unique_fd.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/observe/snapshot.h"
#include "tools/softdat/output.h"
#include "tools/softdat/run/capture_merge.h"

namespace softdat::tools::capture {
namespace {

namespace fs = std::filesystem;
using base::CaptureAnswer;
using base::CaptureVerdict;

// A process that is not stopped answers in milliseconds.
constexpr int kPatienceMs = 10'000;

// What /proc says of the process.
struct Target {
  pid_t pid = 0;
  std::uint32_t own_pid = 0;  // as it counts itself
  std::uint64_t pid_namespace = 0;
  base::SocketUser user{};
  std::string program{};
  bool has_softdat = false;

  std::string name() const { return fmt::format("process {} ({})", pid, program); }
};

std::uint32_t read_own_pid(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/status", pid));
  std::uint32_t own = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("NSpid:")) continue;
    std::istringstream words(line.substr(6));
    while (words >> own) {
    }
  }
  return own == 0 ? static_cast<std::uint32_t>(pid) : own;
}

// Where it may have put its sockets. Empty if it does not say.
std::string runtime_directory_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid));
  constexpr std::string_view kName = "XDG_RUNTIME_DIR=";
  for (std::string entry; std::getline(file, entry, '\0');) {
    if (entry.starts_with(kName)) return entry.substr(kName.size());
  }
  return {};
}

bool maps_softdat(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/maps", pid));
  for (std::string line; std::getline(file, line);) {
    if (line.find("/libsoftdat.so") != line.npos) return true;
  }
  return false;
}

Failure no_such_process(pid_t pid) {
  return Failure(fmt::format("there is no process {}; softdat top lists processes on SoftDAT", pid));
}

Target find_target(pid_t pid) {
  struct stat status = {};
  if (::stat(fmt::format("/proc/{}", pid).c_str(), &status) != 0) throw no_such_process(pid);
  Target target;
  target.pid = pid;
  target.own_pid = read_own_pid(pid);
  target.user = {.uid = status.st_uid, .runtime_directory = runtime_directory_of(pid)};
  struct stat space = {};
  if (::stat(fmt::format("/proc/{}/ns/pid", pid).c_str(), &space) == 0) target.pid_namespace = space.st_ino;
  std::ifstream(fmt::format("/proc/{}/comm", pid)) >> target.program;
  target.program = observe::printable(target.program);
  if (::geteuid() != 0 && status.st_uid != ::geteuid()) {
    throw Failure(fmt::format("{} belongs to user {}, not to user {}; run softdat capture as that user", target.name(),
                              status.st_uid, ::geteuid()));
  }
  target.has_softdat = maps_softdat(pid);
  return target;
}

// Whether the process listens there itself: another one of the user may have taken the name.
bool is_of(int socket, const Target& target) {
  ucred peer = {};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.pid == target.pid;
}

base::UniqueFd connect_to(const Target& target) {
  for (unsigned number = 0; number < base::kCaptureSockets; ++number) {
    const std::string name = base::capture_socket_name(target.pid_namespace, target.own_pid, number);
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

// SIGINT and SIGTERM come here from now on.
base::UniqueFd take_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return base::UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

// The file that the process writes; what it holds becomes FILE at the end. It stays where the tool is killed.
class PartFile {
 public:
  explicit PartFile(const std::string& file) : path_(fs::absolute(file).string() + ".part-XXXXXX") {
    // Known before anything is captured.
    const base::UniqueFd whole(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!whole) throw Failure(fmt::format("cannot write the capture \"{}\": {}", file, std::strerror(errno)));
    fd_ = base::UniqueFd(::mkostemp(path_.data(), O_CLOEXEC));
    if (!fd_) {
      throw Failure(fmt::format("cannot make a file beside the capture \"{}\": {}", file, std::strerror(errno)));
    }
  }
  ~PartFile() {
    if (fd_ && !is_kept_) ::unlink(path_.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }
  void keep() { is_kept_ = true; }

 private:
  std::string path_;
  base::UniqueFd fd_;
  bool is_kept_ = false;
};

void send_request(int socket, const LivePlan& plan, int file) {
  base::CaptureRequest request{.snap_length = plan.snap_length < LivePlan::kWhole ? plan.snap_length : UINT32_MAX,
                               .buffer_kib = plan.buffer_kib};
  request.milliseconds = static_cast<std::uint64_t>(std::ceil(plan.seconds * 1000));
  iovec part{.iov_base = &request, .iov_len = sizeof request};
  alignas(cmsghdr) std::byte control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(head), &file, sizeof file);
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
    throw Failure(fmt::format("the process does not take the request: {}", std::strerror(errno)));
  }
}

// Nothing: the process has closed the connection, or said nonsense. REQUIRES: something to read.
std::optional<CaptureAnswer> read_answer(int socket) {
  CaptureAnswer answer{};
  const ssize_t got = ::recv(socket, &answer, sizeof answer, MSG_DONTWAIT);
  if (got != static_cast<ssize_t>(sizeof answer) || answer.magic != base::kCaptureControlMagic) return std::nullopt;
  return answer;
}

// False: a signal came first, or the time passed. A signal that has come stays to be read.
bool await(int socket, int signals, int milliseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  for (;;) {
    pollfd entries[2] = {{.fd = socket, .events = POLLIN, .revents = 0},
                         {.fd = signals, .events = POLLIN, .revents = 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int ready = ::poll(entries, 2, milliseconds < 0 ? -1 : static_cast<int>(std::max<long long>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    return ready > 0 && entries[0].revents != 0;
  }
}

[[noreturn]] void refuse(const Target& target, const CaptureAnswer& answer) {
  switch (answer.verdict) {
    case CaptureVerdict::kBusy:
      throw Failure(
          fmt::format("{} is captured already, by process {}; end that one first", target.name(), answer.owner));
    case CaptureVerdict::kAlwaysOn:
      throw Failure(fmt::format("{} is captured already, since its start: softdat run --capture or SOFTDAT_CAPTURE",
                                target.name()));
    case CaptureVerdict::kOtherVersion:
      throw Failure(
          fmt::format("{} runs another version of SoftDAT; use the softdat that belongs to it", target.name()));
    case CaptureVerdict::kNoMemory:
      throw Failure(
          fmt::format("{} has no memory or no thread for a capture; a smaller --buffer takes less", target.name()));
    default:
      throw Failure(fmt::format("{} refuses the request (verdict {})", target.name(),
                                static_cast<std::uint32_t>(answer.verdict)));
  }
}

// The connections that were there already.
std::uint32_t begin(const Target& target, int socket, int signals) {
  if (!await(socket, signals, kPatienceMs)) {
    throw Failure(fmt::format("{} does not answer; it may be stopped: kill -CONT {}", target.name(), target.pid));
  }
  const auto answer = read_answer(socket);
  if (!answer) {
    throw Failure(
        fmt::format("{} closed the connection: it ends, or other tools ask at once; try again", target.name()));
  }
  if (answer->verdict != CaptureVerdict::kStarted) refuse(target, *answer);
  return answer->connections;
}

// Waits for the end, and for what the process has still to write. Returns why it has ended.
std::string await_end(const Target& target, const LivePlan& plan, int socket, int signals) {
  const double most = std::numeric_limits<int>::max() / 2000;
  const bool is_told =
      !await(socket, signals, plan.seconds > 0 ? static_cast<int>(std::min(plan.seconds, most) * 1000) : -1);
  if (is_told) {
    ::shutdown(socket, SHUT_WR);
    signalfd_siginfo ignored;
    pollfd entry{.fd = signals, .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, 0) == 1) static_cast<void>(!::read(signals, &ignored, sizeof ignored));
    if (!await(socket, signals, kPatienceMs))
      return fmt::format("; {} has not finished: it may be stopped", target.name());
  }
  const auto last = read_answer(socket);
  return last && last->verdict == CaptureVerdict::kFinished ? "" : fmt::format("; {} has ended", target.name());
}

int finish(const LivePlan& plan, PartFile& part, const std::string& reason) {
  run::MergedCapture merged;
  try {
    merged = run::merge_captures({part.path()}, plan.file);
  } catch (const Failure& failure) {
    part.keep();
    throw Failure(fmt::format("{}; what the process wrote is in \"{}\"", failure.what(), part.path()));
  }
  print_out(fmt::format("{} {} captured, {} dropped{}; tshark -r {} shows them\n", merged.packets,
                        merged.packets == 1 ? "packet" : "packets", merged.dropped, reason, plan.file));
  return 0;
}

}  // namespace

int capture_live(const LivePlan& plan) {
  const Target target = find_target(plan.pid);
  const base::UniqueFd signals = take_signals();
  base::UniqueFd socket = connect_to(target);
  PartFile part(plan.file);
  send_request(socket.get(), plan, part.fd());
  const std::uint32_t connections = begin(target, socket.get(), signals.get());
  print_out(fmt::format("captures {} into {}, with {} {} that {} there already; Ctrl-C ends it\n", target.name(),
                        plan.file, connections, connections == 1 ? "connection" : "connections",
                        connections == 1 ? "was" : "were"));
  return finish(plan, part, await_end(target, plan, socket.get(), signals.get()));
}

}  // namespace softdat::tools::capture
