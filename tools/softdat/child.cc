// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/softdat/dat_call.h"

namespace softdat::tools {
namespace {

// Children that have not been waited for.
std::vector<pid_t>& living() {
  static std::vector<pid_t> pids;
  return pids;
}

std::vector<char*> to_pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Added ones stand first, since getenv(3) of glibc takes the first of several with one name.
std::vector<std::string> merged_environment(const std::vector<std::pair<std::string, std::string>>& added) {
  std::vector<std::string> merged;
  for (const auto& [name, value] : added) merged.push_back(name + "=" + value);
  for (char** entry = environ; *entry != nullptr; ++entry) merged.emplace_back(*entry);
  return merged;
}

Failure system_failure(const char* what, int error) {
  return Failure(std::string(what) + ": " + std::strerror(error));
}

}  // namespace

Child::Child(const std::vector<std::string>& arguments,
             const std::vector<std::pair<std::string, std::string>>& environment, Mistakes mistakes) {
  static bool is_told = false;
  std::vector<std::pair<std::string, std::string>> whole = environment;
  if (std::exchange(is_told, true) && mistakes == Mistakes::kToldOnce) whole.emplace_back("SOFTDAT_RUN_TOLD", "1");
  // An output that is closed is an error from now on (OutputClosed), so that the children are ended before we are.
  ::signal(SIGPIPE, SIG_IGN);
  // A socket, so that writing to a child that has ended is an error and no signal.
  int input[2];
  int output[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input) != 0) throw system_failure("socketpair", errno);
  input_ = input[0];
  if (::pipe2(output, O_CLOEXEC) != 0) {
    const int error = errno;
    ::close(input[0]);
    ::close(input[1]);
    throw system_failure("pipe", error);
  }
  output_ = output[0];
  const int error = spawn(arguments, whole, input[1], output[1]);
  ::close(input[1]);
  ::close(output[1]);
  if (error == 0) return;
  ::close(input_);
  ::close(output_);
  throw system_failure("starting a child process", error);
}

int Child::spawn(const std::vector<std::string>& arguments,
                 const std::vector<std::pair<std::string, std::string>>& environment, int input, int output) {
  std::vector<std::string> words{"/proc/self/exe"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = merged_environment(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // dup2() clears close-on-exec, which all four descriptors have, so that the child keeps these two alone.
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  // Ignored signals stay ignored through exec(), so SIGPIPE gets its default back for the child.
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &pipe);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawn(&pid_, "/proc/self/exe", &actions, &attributes, to_pointers(words).data(),
                                to_pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) pid_ = -1;
  if (error == 0) living().push_back(pid_);
  return error;
}

void Child::stop_all() {
  for (const pid_t pid : living()) ::kill(pid, SIGSTOP);
}

Child::~Child() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait();
  }
  ::close(input_);
  ::close(output_);
}

void Child::write_line(const std::string& line) {
  const std::string text = line + '\n';
  for (std::size_t done = 0; done < text.size();) {
    // A child that has ended is told by read_line() and wait(), so a line that it cannot take is no failure here.
    const ssize_t put = ::send(input_, text.data() + done, text.size() - done, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    done += static_cast<std::size_t>(put);
  }
}

std::optional<std::string> Child::read_line() {
  for (;;) {
    if (const std::size_t end = pending_.find('\n'); end != std::string::npos) {
      std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return line;
    }
    char chunk[4096];
    const ssize_t got = ::read(output_, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    pending_.append(chunk, static_cast<std::size_t>(got));
  }
}

int Child::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  std::erase(living(), pid_);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace softdat::tools
