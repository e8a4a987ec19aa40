// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/capture/live.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/capture_control.h"
#include "base/unique_fd.h"
#include "tools/softdat/capture/target.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/figures.h"
#include "tools/softdat/output.h"
#include "tools/softdat/run/capture_merge.h"
#include "tools/softdat/run/process.h"

namespace softdat::tools::capture {
namespace {

namespace fs = std::filesystem;
using base::CaptureAnswer;
using base::CaptureVerdict;

// A process that is not stopped answers in milliseconds.
constexpr int kPatienceMs = 10'000;

constexpr const char* kStandardOutput = "-";

sigset_t signals_that_end() {
  return run::not_ignored({SIGINT, SIGTERM, SIGHUP});
}

// The signals that end the capture come here from now on.
base::UniqueFd take_signals() {
  const sigset_t set = signals_that_end();
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return base::UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC));
}

// Where the process writes to: beside the file, or with the temporary files. Failure when the file could not be written
// at the end.
std::string place_of_part(const std::string& file) {
  if (file == kStandardOutput) {
    if (::isatty(STDOUT_FILENO) == 1) {
      throw Failure("standard output is a terminal; give a file, or a pipe: softdat capture PID -o - | tshark -r -");
    }
    return (fs::temp_directory_path() / "softdat-capture").string();
  }
  require_regular(file);
  require_writable(file);
  return fs::absolute(file).string();
}

// The file that the process writes; what it holds becomes FILE at the end. It stays where the tool is killed.
class PartFile {
 public:
  explicit PartFile(const std::string& file) : path_(place_of_part(file) + ".part-XXXXXX") {
    fd_ = base::UniqueFd(::mkostemp(path_.data(), O_CLOEXEC));
    if (!fd_) {
      throw Failure(
          fmt::format("cannot make a file for the packets of \"{}\", {}: {}", file, path_, std::strerror(errno)));
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

// The process writes to the descriptor that comes along (SCM_RIGHTS), so it needs no rights to the path.
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
  const ssize_t got = ::recv(socket, &answer, sizeof answer, MSG_DONTWAIT | MSG_TRUNC);
  if (got != static_cast<ssize_t>(sizeof answer) || answer.magic != base::kCaptureControlMagic) return std::nullopt;
  return answer;
}

// False: a signal came first, or the time passed. A signal that has come stays to be read.
// Polls both, so a signal ends the wait. The signal is read by await_end() or give_back_signals().
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
    // Half-closing the socket asks the process to finish; its last answer comes when all is written.
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

// Standard output is for the packets, if they go there.
void tell(const LivePlan& plan, const std::string& text) {
  if (plan.file != kStandardOutput) return print_out(text + "\n");
  print_note(text);
}

// A signal ends the tool from now on, and the part stays.
void give_back_signals(int signals) {
  signalfd_siginfo ignored;
  pollfd entry{.fd = signals, .events = POLLIN, .revents = 0};
  while (::poll(&entry, 1, 0) == 1 && ::read(signals, &ignored, sizeof ignored) > 0) {
  }
  const sigset_t set = signals_that_end();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

int finish(const LivePlan& plan, PartFile& part, const std::string& reason) {
  // A reader that has gone is a failure of the write, so that the part is kept.
  ::signal(SIGPIPE, SIG_IGN);
  run::MergedCapture merged;
  try {
    // The process writes raw parts; merge_captures() makes one pcapng file of them.
    merged = run::merge_captures({part.path()}, plan.file);
  } catch (const Failure& failure) {
    part.keep();
    throw Failure(fmt::format("{}; what the process wrote is in \"{}\"", failure.what(), part.path()));
  }
  const std::string hint = plan.file == kStandardOutput ? "" : fmt::format("; tshark -r {} shows them", plan.file);
  tell(plan, fmt::format("{} {} captured, {} dropped{}{}", merged.packets, merged.packets == 1 ? "packet" : "packets",
                         merged.dropped, reason, hint));
  return 0;
}

}  // namespace

int capture_live(const LivePlan& plan) {
  const Target target = find_target(plan.pid);
  // First, so that a Ctrl-C from here on ends the capture in order, and the file is made.
  const base::UniqueFd signals = take_signals();
  base::UniqueFd socket = connect_to(target);
  PartFile part(plan.file);
  send_request(socket.get(), plan, part.fd());
  const std::uint32_t connections = begin(target, socket.get(), signals.get());
  tell(plan, fmt::format("captures {} into {}, with {} {} that {} there already; Ctrl-C ends it", target.name(),
                         plan.file == kStandardOutput ? "standard output" : plan.file, connections,
                         connections == 1 ? "connection" : "connections", connections == 1 ? "was" : "were"));
  const std::string reason = await_end(target, plan, socket.get(), signals.get());
  give_back_signals(signals.get());
  return finish(plan, part, reason);
}

}  // namespace softdat::tools::capture
