// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/supervise.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/unique_fd.h"
#include "tools/softdat/dat_call.h"
#include "tools/softdat/run/process.h"

namespace softdat::tools::run {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// How long a program that was stopped may take to end.
constexpr auto kStopTime = std::chrono::seconds(5);
constexpr auto kLookAgain = std::chrono::milliseconds(100);

}  // namespace

End await_end(pid_t process, Clock::duration time, int stop) {
  // A descriptor can be waited for together with `stop`, and leaves the process to be reaped.
  const base::UniqueFd descriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (!descriptor) throw Failure(fmt::format("cannot watch a process: {}", std::strerror(errno)));
  const Clock::time_point deadline = Clock::now() + time;
  while (true) {
    pollfd entries[] = {{.fd = descriptor.get(), .events = POLLIN, .revents = 0},
                        {.fd = stop, .events = POLLIN, .revents = 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const int ready = ::poll(entries, std::size(entries), static_cast<int>(std::clamp<long>(left, 0, 3'600'000)));
    if (entries[0].revents != 0) return End::kEnded;
    if (entries[1].revents != 0) return End::kInterrupted;
    if (ready == 0 && left <= 0) return End::kTimeout;
  }
}

std::vector<pid_t> descendants_of(pid_t process) {
  std::vector<pid_t> found{process};
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::error_code ignored;
    for (const auto& task : fs::directory_iterator(fmt::format("/proc/{}/task", found[i]), ignored)) {
      // Needs CONFIG_PROC_CHILDREN; without it no descendant is found, and the group alone is killed (reap()).
      std::ifstream children(task.path() / "children");
      for (pid_t child = 0; children >> child;) found.push_back(child);
    }
  }
  found.erase(found.begin());
  return found;
}

// What it started may start others meanwhile, and softdat run adopts those whose parents end, so it is killed last.
void stop(pid_t process) {
  ::kill(process, SIGTERM);
  if (await_end(process, kStopTime, -1) == End::kEnded) return;
  const Clock::time_point deadline = Clock::now() + kStopTime;
  while (Clock::now() < deadline) {
    for (const pid_t child : descendants_of(process)) ::kill(child, SIGKILL);
    if (await_end(process, kLookAgain, -1) == End::kEnded) return;
  }
  ::kill(process, SIGKILL);
}

// The group is killed before the number of its leader can be another process's.
int reap(pid_t process) {
  siginfo_t info;
  while (::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  ::kill(-process, SIGKILL);
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return to_exit_status(status);
}

}  // namespace softdat::tools::run
