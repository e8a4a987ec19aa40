// SPDX-License-Identifier: BSD-2-Clause
#include "tests/chaos/tracer.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/chaos/session_marks.h"

namespace softdat::chaos {
namespace {

struct Name {
  int number;
  const char* name;
};

#define SOFTDAT_CALL(name) \
  Name {                   \
    SYS_##name, #name      \
  }
// What the library or its libraries call and can be refused. Not futex and rt_sigprocmask, whose failure the C library
// takes for its own mistake, and not close and munmap, which do not fail.
constexpr std::array kNames = {
    SOFTDAT_CALL(socket),          SOFTDAT_CALL(bind),       SOFTDAT_CALL(listen),      SOFTDAT_CALL(connect),
    SOFTDAT_CALL(accept4),         SOFTDAT_CALL(setsockopt), SOFTDAT_CALL(getsockopt),  SOFTDAT_CALL(getsockname),
    SOFTDAT_CALL(getpeername),     SOFTDAT_CALL(sendto),     SOFTDAT_CALL(sendmsg),     SOFTDAT_CALL(recvfrom),
    SOFTDAT_CALL(recvmsg),         SOFTDAT_CALL(socketpair), SOFTDAT_CALL(shutdown),    SOFTDAT_CALL(ioctl),
    SOFTDAT_CALL(fcntl),           SOFTDAT_CALL(openat),     SOFTDAT_CALL(read),        SOFTDAT_CALL(write),
    SOFTDAT_CALL(memfd_create),    SOFTDAT_CALL(ftruncate),  SOFTDAT_CALL(fallocate),   SOFTDAT_CALL(mmap),
    SOFTDAT_CALL(mprotect),        SOFTDAT_CALL(mremap),     SOFTDAT_CALL(madvise),     SOFTDAT_CALL(epoll_create1),
    SOFTDAT_CALL(epoll_ctl),       SOFTDAT_CALL(epoll_wait), SOFTDAT_CALL(eventfd2),    SOFTDAT_CALL(timerfd_create),
    SOFTDAT_CALL(timerfd_settime), SOFTDAT_CALL(pidfd_open), SOFTDAT_CALL(userfaultfd), SOFTDAT_CALL(newfstatat),
    SOFTDAT_CALL(fstat),           SOFTDAT_CALL(poll),       SOFTDAT_CALL(ppoll),       SOFTDAT_CALL(prctl),
    SOFTDAT_CALL(getdents64),      SOFTDAT_CALL(unlink),     SOFTDAT_CALL(mkdir),       SOFTDAT_CALL(clone3),
    SOFTDAT_CALL(getrandom),       SOFTDAT_CALL(unlinkat),   SOFTDAT_CALL(rmdir),       SOFTDAT_CALL(fchmodat),
    SOFTDAT_CALL(chmod),           SOFTDAT_CALL(flock),      SOFTDAT_CALL(lstat),       SOFTDAT_CALL(process_vm_readv),
};
#undef SOFTDAT_CALL

// Every listed call asks the listener; a call of another architecture is none of ours.
std::vector<sock_filter> make_filter() {
  const auto load = [](std::size_t offset) {
    return sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)};
  };
  std::vector<sock_filter> filter{load(offsetof(seccomp_data, nr))};
  for (const Name& name : kNames) {
    filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(name.number)});
    filter.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_USER_NOTIF});
  }
  filter.push_back({BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW});
  return filter;
}

std::string path_of_session() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  const std::string whole(path, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  return whole.substr(0, whole.rfind('/') + 1) + "chaos_session";
}

struct Started {
  int listener = -1;
  pid_t session = -1;
};

// On a thread of its own, which the filter binds together with the session that it starts. The listener is this
// process's.
void start(const std::string& path, std::promise<int>& listener, std::promise<pid_t>& session) {
  const std::vector<sock_filter> filter = make_filter();
  const sock_fprog program{static_cast<unsigned short>(filter.size()), const_cast<sock_filter*>(filter.data())};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const long fd = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  listener.set_value(static_cast<int>(fd));
  if (fd < 0) return session.set_value(-1);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(static_cast<int>(fd));
    ::execl(path.c_str(), path.c_str(), nullptr);
    ::_exit(127);
  }
  session.set_value(child);
}

class Supervisor {
 public:
  explicit Supervisor(const std::optional<Denial>& denial) : denial_(denial) {}

  // Answers until nobody whom the filter binds is left.
  void serve(int listener) {
    for (;;) {
      pollfd entry{.fd = listener, .events = POLLIN, .revents = 0};
      if (::poll(&entry, 1, -1) < 0 && errno == EINTR) continue;
      if ((entry.revents & POLLIN) == 0) return;
      seccomp_notif call{};
      if (::ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) continue;
      seccomp_notif_resp answer{};
      answer.id = call.id;
      answer.error = judge(call.data);
      if (answer.error == 0) answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
      static_cast<void>(::ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));  // the caller may have died
    }
  }
  Outcome outcome;

 private:
  int judge(const seccomp_data& call) {
    const bool is_mark = call.nr == SYS_ioctl && static_cast<int>(call.args[0]) == -1;
    if (is_mark) is_counting_ = call.args[1] == kBegin;
    if (is_mark || !is_counting_) return 0;
    const int count = ++outcome.counts[call.nr];
    if (!denial_ || denial_->number != call.nr || denial_->turn != count) return 0;
    outcome.was_denied = true;
    return -denial_->error;
  }

  const std::optional<Denial> denial_;
  bool is_counting_ = false;
};

}  // namespace

std::span<const int> traced_calls() {
  static const std::vector<int> numbers = [] {
    std::vector<int> all;
    for (const Name& name : kNames) all.push_back(name.number);
    return all;
  }();
  return numbers;
}

const char* name_of_call(int number) {
  const auto found =
      std::find_if(kNames.begin(), kNames.end(), [&](const Name& name) { return name.number == number; });
  return found == kNames.end() ? "?" : found->name;
}

Outcome run_session(const std::optional<Denial>& denial) {
  Supervisor supervisor(denial);
  std::promise<int> listener;
  std::promise<pid_t> session;
  std::thread starter(start, path_of_session(), std::ref(listener), std::ref(session));
  const int fd = listener.get_future().get();
  if (fd >= 0) {
    supervisor.outcome.is_traced = true;
    supervisor.serve(fd);
    ::close(fd);
  }
  starter.join();
  const pid_t child = session.get_future().get();
  if (child > 0) ::waitpid(child, &supervisor.outcome.status, 0);
  return supervisor.outcome;
}

}  // namespace softdat::chaos
