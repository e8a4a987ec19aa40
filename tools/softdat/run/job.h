// SPDX-License-Identifier: BSD-2-Clause
// Runs the copies of `softdat run` until all have ended: starts clients when the server listens, passes signals on, and
// stops the others when one fails.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/softdat/run/copy.h"
#include "tools/softdat/run/findings.h"
#include "tools/softdat/run/line_writer.h"
#include "tools/softdat/run/report_socket.h"
#include "tools/softdat/run/said.h"
#include "tools/softdat/run/summary.h"

namespace softdat::tools::run {

struct JobPlan {
  std::vector<CopyPlan> copies;
  std::chrono::duration<double> timeout{0};        // of the whole; 0: none
  std::chrono::duration<double> listen_within{0};  // of a server
  std::chrono::duration<double> grace{0};          // from SIGTERM to SIGKILL, and for a server whose clients have ended
};

class Job {
 public:
  // `reports`, `summary`, `findings` and `said` must live as long. `signals` is the descriptor of block_signals().
  Job(const JobPlan& plan, int signals, ReportSocket& reports, Summary& summary, Findings& findings, Said& said);

  // Returns the exit status: the program's; of several, that of the first that failed. StartFailure when one does not
  // begin; those that had begun are stopped then.
  int run();
  // After run(), also after a StartFailure: writes what the copies have printed last, and what has not been said.
  // Waits for the reader, so signals are given back before.
  void finish_output();

 private:
  using Clock = std::chrono::steady_clock;
  using Copies = std::vector<std::unique_ptr<Copy>>;

  int run_all();
  bool is_alone() const { return copies_.size() == 1; }
  bool is_any_running() const;
  bool is_any_client_left() const;
  void start_all(bool servers);
  void wait_and_handle();
  int wait_milliseconds() const;
  void handle_signals();
  void handle_terminal_stop();
  void pass_on(int number);
  void take_ends();
  void handle_end(const Copy& copy);
  void handle_clients_end();
  void handle_reports();
  void handle_deadlines();
  void handle_no_listener();
  void stop_all(int number);
  void end_leftovers();
  void fail(int status);
  void say(const std::function<void()>& message);
  void say_at_once();

  const JobPlan plan_;
  const int signals_;
  ReportSocket& reports_;
  Summary& summary_;
  Findings& findings_;
  Said& said_;
  LineTurn turns_[2];
  LineTurn& output_turn_ = turns_[0];
  LineTurn& error_turn_;
  Copies copies_;
  std::vector<std::function<void()>> unsaid_;  // each prints a line, once standard error takes it

  std::optional<int> failure_;  // the exit status, once something went wrong
  bool is_awaiting_server_ = false;
  bool is_stopping_ = false;
  std::optional<Clock::time_point> timeout_at_;
  std::optional<Clock::time_point> listen_by_;
  std::optional<Clock::time_point> server_ends_by_;
  std::optional<Clock::time_point> kill_at_;
};

}  // namespace softdat::tools::run
