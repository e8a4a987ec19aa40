// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/softdat/run/process.h"

namespace softdat::tools::run {
namespace {

// The two ends of a pipe for a child's output. Each is closed at the end of its scope.
struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    // Our end alone: the program's end blocks, as it would on a terminal.
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    reader = ends[0];
    writer = ends[1];
  }
  ~Pipe() {
    if (reader >= 0) ::close(reader);
    ::close(writer);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader = -1;
  int writer = -1;
};

std::string color_on(int descriptor, const std::string& color) {
  return is_colored(descriptor) ? color : "";
}

}  // namespace

Copy::Copy(const CopyPlan& plan, LineTurn& output, LineTurn& error)
    : plan_(plan),
      output_{-1, LineWriter(STDOUT_FILENO, output, plan.name, color_on(STDOUT_FILENO, plan.color))},
      error_{-1, LineWriter(STDERR_FILENO, error, plan.name, color_on(STDERR_FILENO, plan.color))} {}

Copy::~Copy() {
  if (output_.pipe >= 0) ::close(output_.pipe);
  if (error_.pipe >= 0) ::close(error_.pipe);
}

void Copy::start() {
  StartPlan plan;
  plan.words = plan_.words;
  plan.environment = plan_.environment;
  plan.has_own_group = plan_.has_own_group;
  plan.network = plan_.network;
  if (!plan_.is_gathered) {
    pid_ = run::start(plan);
    return;
  }
  Pipe output;
  Pipe error;
  plan.output = output.writer;
  plan.error = error.writer;
  const bool has_no_input = !plan_.takes_input || ::isatty(STDIN_FILENO) == 1;
  // Read from another process group, a terminal would stop the program (SIGTTIN).
  if (has_no_input) plan.input = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  try {
    pid_ = run::start(plan);
  } catch (...) {
    if (plan.input >= 0) ::close(plan.input);
    throw;
  }
  if (plan.input >= 0) ::close(plan.input);
  // The program has its own copies of the writing ends; ours are closed here, so that reading comes to an end.
  output_.pipe = std::exchange(output.reader, -1);
  error_.pipe = std::exchange(error.reader, -1);
}

void Copy::send_signal(int number) {
  if (is_running()) ::kill(plan_.has_own_group ? -pid_ : pid_, number);
}

void Copy::stop(int number) {
  if (!is_running()) return;
  was_stopped_ = true;
  send_signal(number);
  // One that is stopped would not hear of it.
  send_signal(SIGCONT);
}

bool Copy::has_leftovers() const {
  // Also when the leader has been reaped: no other process gets its number as long as the group has members.
  return plan_.has_own_group && pid_ > 0 && ::kill(-pid_, 0) == 0;
}

void Copy::send_to_leftovers(int number) const {
  if (!has_leftovers()) return;
  ::kill(-pid_, number);
  ::kill(-pid_, SIGCONT);
}

bool Copy::take_end(pid_t pid, int wait_status) {
  if (pid != pid_) return false;
  // Not running from now on, so no signal goes to a number that another process may get.
  status_ = to_exit_status(wait_status);
  return true;
}

void Copy::add_to(std::vector<pollfd>& polled) const {
  for (const Stream* stream : {&output_, &error_}) {
    // What cannot be written yet is not added to.
    const LineWriter& writer = stream->writer;
    if (writer.is_waiting()) {
      polled.push_back({.fd = writer.target(), .events = POLLOUT, .revents = 0});
    } else if (stream->pipe >= 0) {
      polled.push_back({.fd = stream->pipe, .events = POLLIN, .revents = 0});
    }
  }
}

std::size_t Copy::read(Stream& stream) {
  if (stream.pipe < 0) return 0;
  // What a pipe holds, unless somebody has enlarged it.
  char chunk[65536];
  const ssize_t got = ::read(stream.pipe, chunk, sizeof chunk);
  if (got > 0) {
    stream.writer.add({chunk, static_cast<std::size_t>(got)});
    return static_cast<std::size_t>(got);
  }
  // Its end, when the program and all that it started have closed it; or an error.
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) ::close(std::exchange(stream.pipe, -1));
  return 0;
}

void Copy::read_output() {
  for (Stream* const stream : {&output_, &error_}) {
    stream->writer.flush();
    if (!stream->writer.is_waiting()) read(*stream);
  }
}

void Copy::finish_output() {
  for (Stream* const stream : {&output_, &error_}) {
    // No more than there is now: what has left the group may print for ever.
    int left = 0;
    if (stream->pipe >= 0) ::ioctl(stream->pipe, FIONREAD, &left);
    while (left > 0) {
      const std::size_t got = read(*stream);
      if (got == 0) break;
      left -= static_cast<int>(got);
    }
    stream->writer.finish();
  }
}

}  // namespace softdat::tools::run
