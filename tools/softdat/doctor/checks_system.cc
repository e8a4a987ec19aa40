// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/shared_memory_directory.h"
#include "tools/softdat/doctor/checks.h"

namespace softdat::tools::doctor {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of "NAME:" in /proc/self/status.
std::string status_value(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ":")) return line.substr(line.find_first_not_of(" \t", name.size() + 1));
  }
  return {};
}

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : fmt::format("{}", limit);
}

std::string bytes_text(std::uint64_t bytes) {
  return bytes >= 1024 * kMiB ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(1024 * kMiB))
                              : fmt::format("{} MiB", bytes / kMiB);
}

// Closes what the call opened. 0 or the errno of its failure.
int try_descriptor(long descriptor) {
  if (descriptor < 0) return errno;
  ::close(static_cast<int>(descriptor));
  return 0;
}

int try_sealed_file() {
  const int file = ::memfd_create("softdat-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return errno;
  // Grown as well, because "ulimit -f" forbids this alone.
  const bool is_grown = ::ftruncate(file, static_cast<off_t>(kMiB)) == 0;
  const int error = errno;
  ::close(file);
  return is_grown ? 0 : error;
}

int try_reading_self() {
  char from = 'x';
  char to = 0;
  const iovec source{&from, 1};
  const iovec target{&to, 1};
  return ::process_vm_readv(::getpid(), &target, 1, &source, 1, 0) == 1 ? 0 : errno;
}

Finding descriptors_finding() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  Finding finding{Level::kOk, "descriptors", fmt::format("{} (at most {})", files.rlim_cur, limit_text(files.rlim_max)),
                  ""};
  // An adapter takes some twenty, a connection over TCP one, over shared memory up to four.
  if (files.rlim_cur < 64) {
    finding.level = Level::kProblem;
    finding.advice =
        "An adapter needs more than that; connections fail for want of resources. Raise it: ulimit -n 1024";
  } else if (files.rlim_cur < 1024) {
    finding.level = Level::kWarning;
    finding.advice = "Programs with many connections run out of them. Raise it: ulimit -n 1024";
  }
  return finding;
}

Finding locked_memory_finding() {
  rlimit locked{};
  ::getrlimit(RLIMIT_MEMLOCK, &locked);
  Finding finding{Level::kOk, "memlock",
                  limit_text(locked.rlim_cur) + (locked.rlim_cur == RLIM_INFINITY ? "" : " bytes"), ""};
  if (locked.rlim_cur < 1024 * kMiB) {
    finding.level = Level::kNote;
    finding.advice =
        "The simulator locks no memory and works. RDMA hardware locks all that is registered: set memlock to unlimited "
        "in /etc/security/limits.conf before a program moves there.";
  }
  return finding;
}

Finding file_size_finding() {
  rlimit size{};
  ::getrlimit(RLIMIT_FSIZE, &size);
  Finding finding{Level::kOk, "file size", limit_text(size.rlim_cur), ""};
  if (size.rlim_cur != RLIM_INFINITY) {
    finding.level = Level::kWarning;
    finding.advice = "It limits shared memory too: SoftDAT then uses TCP within a host. Lift it: ulimit -f unlimited";
  }
  return finding;
}

}  // namespace

const char* to_text(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kNote:
      return "note";
    case Level::kWarning:
      return "warning";
    case Level::kProblem:
      return "problem";
  }
  return "";
}

Findings check_kernel() {
  utsname name{};
  ::uname(&name);
  return {{Level::kOk, "kernel", fmt::format("{} {} {}", name.sysname, name.release, name.machine), ""}};
}

Findings check_shared_memory() {
  Finding file{Level::kOk, "memfd", "shared memory can be made", ""};
  if (const int error = try_sealed_file(); error != 0) {
    file = {Level::kWarning, "memfd", fmt::format("memfd_create: {}", std::strerror(error)),
            "Processes of this host cannot share memory; SoftDAT uses TCP between them, which is slower. A sandbox or "
            "ulimit -f forbids it."};
  }
  struct statvfs space {};
  Finding directory{Level::kOk, base::kSharedMemoryDirectory, "", ""};
  if (::statvfs(base::kSharedMemoryDirectory, &space) == 0 && ::access(base::kSharedMemoryDirectory, W_OK) == 0) {
    directory.fact = fmt::format("{} free", bytes_text(space.f_bavail * space.f_frsize));
  } else {
    directory.level = Level::kNote;
    directory.fact = fmt::format("cannot be used: {}", std::strerror(errno));
    directory.advice = "SoftDAT itself needs no file there; programs with POSIX shared memory of their own do.";
  }
  return {file, directory};
}

Findings check_system_calls() {
  struct Call {
    const char* name;
    int error;
    Level level;
    const char* advice;
  };
  const Call calls[] = {
      {"epoll_create1", try_descriptor(::epoll_create1(EPOLL_CLOEXEC)), Level::kProblem,
       "Without it no adapter opens over TCP. Allow it in the container's seccomp profile."},
      {"eventfd2", try_descriptor(::eventfd(0, EFD_CLOEXEC)), Level::kProblem,
       "Without it no adapter opens. Allow it in the container's seccomp profile."},
      {"process_vm_readv", try_reading_self(), Level::kNote,
       "SoftDAT looks at handles and buffers in a slower way instead."},
      {"userfaultfd", try_descriptor(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)),
       Level::kNote,
       "Memory that is registered is not put within peers' reach: RDMA within the host takes one more copy. Allow it "
       "in "
       "the container's seccomp profile."},
  };
  Findings findings;
  for (const Call& call : calls) {
    if (call.error == 0) continue;
    findings.push_back(
        {call.level, "system calls", fmt::format("{}: {}", call.name, std::strerror(call.error)), call.advice});
  }
  if (findings.empty()) findings.push_back({Level::kOk, "system calls", "all that SoftDAT needs are allowed", ""});
  return findings;
}

Findings check_limits() {
  Findings findings{descriptors_finding(), locked_memory_finding(), file_size_finding()};
  const std::string scope = first_line("/proc/sys/kernel/yama/ptrace_scope");
  if (!scope.empty() && scope != "0") {
    findings.push_back({Level::kNote, "ptrace scope", scope,
                        "SoftDAT works. A debugger attaches to running programs only as root; start them under it, or "
                        "sysctl kernel.yama.ptrace_scope=0."});
  }
  const std::string faults = first_line("/proc/sys/vm/unprivileged_userfaultfd");
  if (faults == "0" && ::geteuid() != 0) {
    findings.push_back({Level::kNote, "direct access", "vm.unprivileged_userfaultfd is 0",
                        "Memory that a program with several threads registers is reached by messages, with one more "
                        "copy. sysctl vm.unprivileged_userfaultfd=1 or SOFTDAT_DIRECT=on (softdat(7)) changes that."});
  }
  return findings;
}

Findings check_container() {
  Findings findings;
  const bool is_container = ::access("/.dockerenv", F_OK) == 0 || ::access("/run/.containerenv", F_OK) == 0;
  const std::string seccomp = status_value("Seccomp");
  if (is_container || (!seccomp.empty() && seccomp != "0")) {
    findings.push_back({Level::kNote, "sandbox",
                        fmt::format("{}seccomp mode {}", is_container ? "in a container, " : "", seccomp),
                        "Containers of one host share memory only if they share the user, the network (--network host "
                        "or a pod) and a directory such as /dev/shm (--ipc host); otherwise SoftDAT uses TCP."});
  }
  const std::string memory = first_line("/sys/fs/cgroup/memory.max");
  if (!memory.empty() && memory != "max") {
    findings.push_back({Level::kNote, "memory limit", fmt::format("{} bytes for this control group", memory),
                        "Registered memory counts; a program that passes it is killed (OOM)."});
  }
  const std::string tasks = first_line("/sys/fs/cgroup/pids.max");
  std::uint64_t most = 0;
  std::istringstream(tasks) >> most;
  if (most != 0 && most < 64) {
    findings.push_back({Level::kWarning, "task limit", fmt::format("{} for this control group", tasks),
                        "Each open adapter has a thread; raise pids.max (docker run --pids-limit)."});
  }
  return findings;
}

}  // namespace softdat::tools::doctor
