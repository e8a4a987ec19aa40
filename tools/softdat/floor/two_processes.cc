// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/floor/two_processes.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/perf/machine.h"

namespace softdat::tools::floor {
namespace {

void pin(int processor) {
  if (processor >= 0) perf::pin_to(processor);
}

// The child of a fork() without exec(): it leaves by _exit(), so that nothing of the parent's is flushed or destroyed
// twice.
[[noreturn]] void be_other(int processor, const std::function<void()>& there) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    pin(processor);
    there();
  } catch (const std::exception& failure) {
    fmt::print(stderr, "softdat: {}\n", failure.what());
    ::_exit(1);
  }
  ::_exit(0);
}

// The forked process; killed if it is not waited for.
class Other {
 public:
  explicit Other(pid_t pid) : pid_(pid) {}
  ~Other() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    wait();
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  bool wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t pid_;
};

// This process goes on to other floors, so its own processors come back.
class Pinned {
 public:
  explicit Pinned(int processor) {
    ::sched_getaffinity(0, sizeof before_, &before_);
    pin(processor);
  }
  ~Pinned() { ::sched_setaffinity(0, sizeof before_, &before_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace

SharedMemory::SharedMemory(std::size_t length)
    : address_(::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)),
      length_(length) {
  if (address_ == MAP_FAILED) throw Failure(fmt::format("mmap: {}", std::strerror(errno)));
}

SharedMemory::~SharedMemory() {
  ::munmap(address_, length_);
}

void run_together(const Processors& processors, const std::function<void()>& here, const std::function<void()>& there) {
  // Else the child would have a copy of what is buffered.
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid < 0) throw Failure(fmt::format("fork: {}", std::strerror(errno)));
  if (pid == 0) be_other(processors.there, there);
  Other other(pid);
  {
    const Pinned pinned(processors.here);
    here();
  }
  if (!other.wait()) throw Failure("the other process of a floor did not end well");
}

}  // namespace softdat::tools::floor
