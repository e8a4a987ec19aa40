// SPDX-License-Identifier: BSD-2-Clause
#include "tests/wire/capture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace softdat::wire {

std::string output_of(const std::string& command) {
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  if (pipe == nullptr) return {};
  std::string output;
  std::array<char, 4096> chunk;
  for (std::size_t got; (got = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;) output.append(chunk.data(), got);
  ::pclose(pipe);
  return output;
}

Capture::Capture() {
  char name[] = "/tmp/softdat-wire-XXXXXX";
  if (::mkdtemp(name) == nullptr) {
    why_ = "no scratch directory";
    return;
  }
  directory_ = name;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  const std::string file = directory_ + "/wire.pcapng";
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::execlp("dumpcap", "dumpcap", "-q", "-i", "lo", "-s", "0", "-f", "tcp", "-w", file.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  if (!await_start(ends[0])) {
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  ::close(ends[0]);
}

// dumpcap names its file once it captures; before that it either says what is wrong or does not exist.
bool Capture::await_start(int from_dumpcap) {
  char byte;
  while (::read(from_dumpcap, &byte, 1) == 1) {
    why_.push_back(byte);
    if (why_.find("File: ") != std::string::npos) return true;
  }
  if (why_.empty()) why_ = "dumpcap (Debian package wireshark-common) is not there";
  return false;
}

Capture::~Capture() {
  if (pid_ > 0) {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }
  if (!directory_.empty()) {
    ::unlink((directory_ + "/wire.pcapng").c_str());
    ::rmdir(directory_.c_str());
  }
}

std::string Capture::decode(const std::string& arguments) const {
  return output_of("tshark -n -r " + directory_ + "/wire.pcapng " + arguments);
}

}  // namespace softdat::wire
