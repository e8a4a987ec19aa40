// SPDX-License-Identifier: BSD-2-Clause
// A process of its own at the other end: runs the helper binary, by posix_spawn and exec (a test
// process may have threads, which a bare fork would leave half alive).
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"

namespace softdat::transport::shm {

class ChildProcess {
 public:
  // Starts shm_child with these arguments; what it prints can be read with read_line().
  explicit ChildProcess(const std::vector<std::string>& arguments);
  ~ChildProcess();  // kills it if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool is_started() const { return pid_ > 0; }
  int pid() const { return pid_; }
  // Empty at the end of its output.
  std::string read_line();
  // Closes its standard input, which asks it to stop, and waits; its exit status.
  int stop();
  // kill -9, and waits.
  void kill();

 private:
  int wait();

  int pid_ = -1;
  base::UniqueFd input_;
  base::UniqueFd output_;
};

}  // namespace softdat::transport::shm
