// SPDX-License-Identifier: BSD-2-Clause
// A child process that runs this same program with other arguments, whose input can be written and whose output
// can be read.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace softdat::tools {

class Child {
 public:
  // Whether the first child of this process tells mistakes in the environment, or each child does.
  enum class Mistakes { kToldOnce, kToldByEach };

  // `environment` is added to ours. Not for several threads at once.
  Child(const std::vector<std::string>& arguments, const std::vector<std::pair<std::string, std::string>>& environment,
        Mistakes mistakes = Mistakes::kToldOnce);
  // Kills and reaps a child that has not been waited for.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Gives it a line on its standard input; lost when it has ended.
  void write_line(const std::string& line);
  // The next line of its standard output; nothing at its end.
  std::optional<std::string> read_line();
  // Its exit status, 128 + signal if it was killed.
  int wait();

  // Stops all children (SIGSTOP) that are about to be killed one by one, so that none complains of another's end.
  static void stop_all();

 private:
  int spawn(const std::vector<std::string>& arguments,
            const std::vector<std::pair<std::string, std::string>>& environment, int input, int output);

  pid_t pid_ = -1;
  int input_ = -1;  // our ends
  int output_ = -1;
  std::string pending_;
};

}  // namespace softdat::tools
