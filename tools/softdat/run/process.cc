// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"
#include "tools/softdat/run/program_file.h"
#include "tools/softdat/words.h"

namespace softdat::tools::run {
namespace {

// What this process began with; set by remember_inherited().
struct Inherited {
  sigset_t mask;
  struct sigaction child;
  struct sigaction pipe;
  rlimit descriptors;
};
Inherited g_inherited;

std::vector<char*> to_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// False with errno set when it cannot be put there.
bool put_at(int descriptor, int place) {
  return descriptor < 0 || ::dup2(descriptor, place) == place;
}

// In the child: what follows fork(). Returns only when the program cannot begin, with errno set.
// Between fork() and exec() only what is async-signal-safe: another thread may have held a lock, such as malloc's.
void become(const StartPlan& plan, char* const* words, char* const* environment, pid_t parent) {
  if (plan.has_own_group) ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have ended before PR_SET_PDEATHSIG was in force, which then never fires.
  if (::getppid() != parent) ::_exit(kExitNotFound);
  if (plan.network >= 0 && ::setns(plan.network, CLONE_NEWNET) != 0) return;
  if (!put_at(plan.input, STDIN_FILENO) || !put_at(plan.output, STDOUT_FILENO) || !put_at(plan.error, STDERR_FILENO)) {
    return;
  }
  // As this process began, not as it has set itself up: blocked and ignored signals stay so through exec().
  for (const int number : plan.by_default) ::signal(number, SIG_DFL);
  ::sigaction(SIGCHLD, &g_inherited.child, nullptr);
  ::sigaction(SIGPIPE, &g_inherited.pipe, nullptr);
  ::setrlimit(RLIMIT_NOFILE, &g_inherited.descriptors);
  ::sigprocmask(SIG_SETMASK, &g_inherited.mask, nullptr);
  ::execvpe(words[0], words, environment);
}

// Empty, or ", did you mean ..." for a program of the current directory.
std::string suggestion(const std::string& word) {
  const std::string here = "./" + word;
  return did_you_mean(word.find('/') == word.npos && find_program(here) ? here : "");
}

StartFailure failure_of(const std::string& word, int error) {
  const bool has_slash = word.find('/') != word.npos;
  const bool exists = has_slash ? ::access(word.c_str(), F_OK) == 0 : find_program(word).has_value();
  if (error == ENOENT && !exists) {
    const char* const where = has_slash ? "" : " in PATH";
    return {fmt::format("there is no program \"{}\"{}{}", word, where, suggestion(word)), kExitNotFound};
  }
  if (error == ENOENT) {
    return {fmt::format("cannot run \"{}\": the interpreter or loader that its first line names does not exist", word),
            kExitNotFound};
  }
  return {fmt::format("cannot run \"{}\": {}", word, std::strerror(error)), kExitNotExecutable};
}

// What the child wrote into the pipe before it ended: the errno of exec. 0 when the pipe was closed by exec.
int read_error(int pipe) {
  int error = 0;
  ssize_t got = 0;
  while ((got = ::read(pipe, &error, sizeof error)) < 0 && errno == EINTR) {
  }
  return got == static_cast<ssize_t>(sizeof error) ? error : 0;
}

}  // namespace

ProgramDescriptor::ProgramDescriptor(const std::string& path, int flags)
    : descriptor_(base::UniqueFd(::open(path.c_str(), flags | O_CLOEXEC, 0600)).release()) {
  if (descriptor_ < 0) throw Failure(fmt::format("cannot open \"{}\": {}", path, std::strerror(errno)));
}

ProgramDescriptor::~ProgramDescriptor() {
  ::close(descriptor_);
}

pid_t start(const StartPlan& plan) {
  // Made before fork(), since the child may not allocate.
  const std::vector<char*> words = to_pointers(plan.words);
  const std::vector<char*> environment = to_pointers(plan.environment);
  int failures[2];
  // Closed by exec() (O_CLOEXEC): its end without a byte says that the program has begun.
  if (::pipe2(failures, O_CLOEXEC) != 0) throw Failure(fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  const pid_t parent = ::getpid();
  // A handler of this process is not to take the child's signals: they come when the program has begun.
  sigset_t all, before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    become(plan, words.data(), environment.data(), parent);
    const int error = errno;
    [[maybe_unused]] const ssize_t told = ::write(failures[1], &error, sizeof error);
    ::_exit(kExitNotFound);
  }
  const int fork_error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(failures[1]);
  const int error = child < 0 ? 0 : read_error(failures[0]);
  ::close(failures[0]);
  if (child < 0) throw Failure(fmt::format("cannot start a process: {}", std::strerror(fork_error)));
  if (error == 0) return child;
  ::waitpid(child, nullptr, 0);
  throw failure_of(plan.words.front(), error);
}

bool is_ignored(int signal) {
  struct sigaction found = {};
  return ::sigaction(signal, nullptr, &found) == 0 && found.sa_handler == SIG_IGN;
}

sigset_t not_ignored(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) {
    if (!is_ignored(signal)) sigaddset(&set, signal);
  }
  return set;
}

void remember_inherited() {
  struct sigaction by_default = {};
  by_default.sa_handler = SIG_DFL;
  // Where it is ignored, as some programs leave it to their children, nobody could be waited for.
  ::sigaction(SIGCHLD, &by_default, &g_inherited.child);
  ::sigaction(SIGPIPE, nullptr, &g_inherited.pipe);
  ::sigprocmask(SIG_BLOCK, nullptr, &g_inherited.mask);
  ::getrlimit(RLIMIT_NOFILE, &g_inherited.descriptors);
}

bool allow_descriptors(std::uint64_t count) {
  rlimit limit = g_inherited.descriptors;
  if (limit.rlim_cur >= count) return true;
  limit.rlim_cur = count;
  return count <= limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int block_signals(bool with_terminal_stop) {
  sigset_t signals = not_ignored({SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP});
  if (!with_terminal_stop) sigdelset(&signals, SIGTSTP);
  // An output that is closed is an error here (OutputClosed), so that the programs are stopped in order.
  struct sigaction ignored = {};
  ignored.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignored, nullptr);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int descriptor = ::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) throw Failure(fmt::format("cannot read signals: {}", std::strerror(errno)));
  return descriptor;
}

void give_back_signals(int signals) {
  signalfd_siginfo forgotten;
  while (::read(signals, &forgotten, sizeof forgotten) > 0) {
  }
  sigset_t mask = g_inherited.mask;
  for (const int number : {SIGUSR1, SIGUSR2, SIGWINCH}) sigaddset(&mask, number);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
}

int to_exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : kExitSignal + WTERMSIG(wait_status);
}

}  // namespace softdat::tools::run
