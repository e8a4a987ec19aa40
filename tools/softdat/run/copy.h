// SPDX-License-Identifier: BSD-2-Clause
// One program that `softdat run` started.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "tools/softdat/run/environment.h"
#include "tools/softdat/run/line_writer.h"

namespace softdat::tools::run {

struct CopyPlan {
  std::string name;  // of its output's lines
  std::vector<std::string> words;
  std::vector<std::string> environment;  // "NAME=VALUE"
  bool is_server = false;
  bool takes_input = false;    // our standard input, unless that is a terminal, which another group may not read
  bool is_gathered = false;    // its output comes to us, behind its name; else it writes to ours by itself
  bool has_own_group = false;  // leads a process group, so that signals reach all that it started
  int network = -1;            // a network namespace to enter; -1: ours
  std::string color;           // of its name
};

class Copy {
 public:
  // `output` and `error` are the turns of the copies' lines on our two outputs. They must live as long.
  Copy(const CopyPlan& plan, LineTurn& output, LineTurn& error);
  ~Copy();
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  const CopyPlan& plan() const { return plan_; }
  // StartFailure when the program does not begin.
  void start();

  bool is_running() const { return pid_ > 0 && !status_; }
  bool has_begun() const { return pid_ > 0; }
  // The exit status that a shell gives; nothing before the end.
  std::optional<int> status() const { return status_; }
  // Whether it was still running when it was told to stop.
  bool was_stopped() const { return was_stopped_; }

  // To its group, or to itself where it has none. Nothing when it does not run.
  void send_signal(int number);
  // The same, because it has to end.
  void stop(int number);
  // Whether processes of its group are left.
  bool has_leftovers() const;
  void send_to_leftovers(int number) const;

  // Whether that process, which has ended, was this one; the status of waitpid() is kept then.
  bool take_end(pid_t pid, int wait_status);

  // Adds what is to be polled for input.
  void add_to(std::vector<pollfd>& polled) const;
  // Writes some of what has come to our own output, a bounded amount: the caller looks at signals and deadlines
  // between. Waits neither for the copy nor for the reader of our output.
  void read_output();
  // Writes all that has come until now, and the last line, although it has no end. Waits for the reader.
  void finish_output();

 private:
  struct Stream {
    int pipe = -1;
    LineWriter writer;
  };
  // How many bytes came. Closes the pipe at its end.
  static std::size_t read(Stream& stream);

  const CopyPlan plan_;
  pid_t pid_ = -1;
  std::optional<int> status_;
  bool was_stopped_ = false;
  Stream output_;
  Stream error_;
};

}  // namespace softdat::tools::run
