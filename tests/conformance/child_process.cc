// SPDX-License-Identifier: BSD-2-Clause
#include "tests/conformance/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

#include "tests/conformance/answers.h"
#include "tests/conformance/events.h"

namespace softdat::conformance {
namespace {

std::string directory_of_this_program() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) throw SetupFailure("cannot read /proc/self/exe");
  const std::string whole(path, static_cast<std::size_t>(length));
  return whole.substr(0, whole.rfind('/') + 1);
}

}  // namespace

Child::Child(const std::string& program, std::vector<std::string> arguments, Become become) {
  const std::string path = directory_of_this_program() + program;
  std::vector<char*> words{const_cast<char*>(path.c_str())};
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  int in[2];
  int out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) throw SetupFailure("pipe2");
  id_ = fork();
  if (id_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    if (become == nullptr || become()) execv(path.c_str(), words.data());
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  to_child_ = in[1];
  from_child_ = out[0];
  if (id_ < 0) throw SetupFailure("fork");
}

Child::~Child() {
  kill();
  close(to_child_);
  close(from_child_);
}

std::string Child::read_line() {
  std::size_t end;
  while ((end = pending_.find('\n')) == std::string::npos) {
    pollfd readable{from_child_, POLLIN, 0};
    if (poll(&readable, 1, static_cast<int>(kPatience / 1000)) <= 0) throw SetupFailure("the child is silent");
    char text[512];
    const ssize_t length = read(from_child_, text, sizeof text);
    if (length <= 0) throw SetupFailure("the child has ended; it last said: " + pending_);
    pending_.append(text, static_cast<std::size_t>(length));
  }
  const std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  return line;
}

void Child::write_line(const std::string& line) {
  const std::string text = line + "\n";
  if (write(to_child_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    throw SetupFailure("the child does not listen");
}

std::string Child::ask(const std::string& line) {
  write_line(line);
  return read_line();
}

void Child::stop() {
  ::kill(id_, SIGSTOP);
  int status = 0;
  if (waitpid(id_, &status, WUNTRACED) != id_ || !WIFSTOPPED(status)) throw SetupFailure("the child does not stop");
}

void Child::resume() {
  ::kill(id_, SIGCONT);
}

void Child::kill() {
  if (id_ <= 0) return;
  ::kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
  id_ = -1;
}

int Child::join() {
  int status = 0;
  waitpid(id_, &status, 0);
  id_ = -1;
  return status;
}

}  // namespace softdat::conformance
