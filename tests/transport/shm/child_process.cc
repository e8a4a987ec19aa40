// SPDX-License-Identifier: BSD-2-Clause
#include "tests/transport/shm/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

extern char** environ;

namespace softdat::transport::shm {
namespace {

struct Pipe {
  base::UniqueFd read;
  base::UniqueFd write;
};

Pipe make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments) {
  Pipe in = make_pipe();
  Pipe out = make_pipe();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.read.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  std::vector<std::string> words = {SHM_CHILD_PATH};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  if (::posix_spawn(&pid_, SHM_CHILD_PATH, &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
  ::posix_spawn_file_actions_destroy(&actions);
  input_ = std::move(in.write);
  output_ = std::move(out.read);
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0) kill();
}

std::string ChildProcess::read_line() {
  std::string line;
  char letter = 0;
  while (true) {
    const ssize_t got = ::read(output_.get(), &letter, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || letter == '\n') return line;
    line.push_back(letter);
  }
}

int ChildProcess::stop() {
  input_.reset();
  return wait();
}

void ChildProcess::kill() {
  ::kill(pid_, SIGKILL);
  wait();
}

int ChildProcess::wait() {
  int status = -1;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace softdat::transport::shm
