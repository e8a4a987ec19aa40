// SPDX-License-Identifier: BSD-2-Clause
// A program of our own in another process, spoken to line by line.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace softdat::conformance {

// Starts the program that stands beside the running one. Kills it, if it still runs, when it goes.
class Child {
 public:
  // `become`, if there is one, runs in the new process first and makes it somebody else. It allocates nothing. False:
  // the process ends.
  using Become = bool (*)();
  Child(const std::string& program, std::vector<std::string> arguments, Become become = nullptr);
  ~Child();

  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  pid_t id() const { return id_; }

  // The next line it says; throws SetupFailure when it ends or stays silent for too long.
  std::string read_line();
  void write_line(const std::string& line);

  // Says a line and returns the answer.
  std::string ask(const std::string& line);

  // SIGSTOP, and waits until it runs no more; and SIGCONT.
  void stop();
  void resume();

  // SIGKILL, and waits until nothing is left of it.
  void kill();

  // Waits until it ends by itself; its exit status.
  int join();

 private:
  pid_t id_ = -1;
  int to_child_ = -1;
  int from_child_ = -1;
  std::string pending_;
};

}  // namespace softdat::conformance
