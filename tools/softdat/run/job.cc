// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/run/job.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "tools/softdat/output.h"
#include "tools/softdat/run/process.h"

namespace softdat::tools::run {
namespace {

template <typename Duration>
std::chrono::steady_clock::duration to_ticks(Duration duration) {
  return std::chrono::ceil<std::chrono::steady_clock::duration>(duration);
}

bool is_one_file(int one, int other) {
  struct stat a = {}, b = {};
  return ::fstat(one, &a) == 0 && ::fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

}  // namespace

Job::Job(const JobPlan& plan, int signals, ReportSocket& reports, Summary& summary, Findings& findings, Said& said)
    : plan_(plan),
      signals_(signals),
      reports_(reports),
      summary_(summary),
      findings_(findings),
      said_(said),
      error_turn_(turns_[is_one_file(STDOUT_FILENO, STDERR_FILENO) ? 0 : 1]) {
  for (const CopyPlan& copy : plan_.copies) {
    copies_.push_back(std::make_unique<Copy>(copy, output_turn_, error_turn_));
    is_awaiting_server_ = is_awaiting_server_ || copy.is_server;
  }
}

int Job::run() {
  try {
    return run_all();
  } catch (const Failure&) {
    // A copy does not begin, or our output takes no more. The others are stopped as after a failure of one.
    stop_all(SIGTERM);
    end_leftovers();
    throw;
  }
}

int Job::run_all() {
  // Processes whose parents end become our children, so that none of a copy's group is left behind unseen.
  if (copies_.front()->plan().has_own_group) ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (plan_.timeout.count() > 0) timeout_at_ = Clock::now() + to_ticks(plan_.timeout);
  if (is_awaiting_server_) listen_by_ = Clock::now() + to_ticks(plan_.listen_within);
  start_all(is_awaiting_server_);
  // Clients that have not begun do not run, so the server's end or its listening decides about them.
  while (is_any_running() || is_awaiting_server_) wait_and_handle();
  end_leftovers();
  // A process reports at its end as well, which may come after the last turn.
  handle_reports();
  for (const auto& copy : copies_) summary_.add(*copy);
  if (failure_) return *failure_;
  return is_alone() ? copies_.front()->status().value_or(kExitFailure) : 0;
}

void Job::finish_output() {
  for (const auto& copy : copies_) copy->finish_output();
  for (const auto& message : unsaid_) message();
}

bool Job::is_any_running() const {
  return std::any_of(copies_.begin(), copies_.end(), [](const auto& copy) { return copy->is_running(); });
}

bool Job::is_any_client_left() const {
  return std::any_of(copies_.begin(), copies_.end(), [](const auto& copy) {
    return !copy->plan().is_server && (copy->is_running() || !copy->has_begun());
  });
}

void Job::start_all(bool servers) {
  for (const auto& copy : copies_) {
    if (copy->plan().is_server == servers) copy->start();
  }
}

void Job::wait_and_handle() {
  std::vector<pollfd> polled{{.fd = signals_, .events = POLLIN, .revents = 0}};
  reports_.add_to(polled);
  for (const auto& copy : copies_) copy->add_to(polled);
  ::poll(polled.data(), polled.size(), wait_milliseconds());
  handle_signals();
  say_at_once();
  for (const auto& copy : copies_) copy->read_output();
  // Before the ends: a server that listened and ended in one turn has listened, so the clients begin.
  handle_reports();
  take_ends();
  handle_deadlines();
}

int Job::wait_milliseconds() const {
  std::optional<Clock::time_point> next;
  for (const auto& deadline : {timeout_at_, listen_by_, server_ends_by_, kill_at_}) {
    if (deadline && (!next || *deadline < *next)) next = deadline;
  }
  if (!next) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

void Job::handle_signals() {
  signalfd_siginfo info;
  while (::read(signals_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) continue;  // take_ends() looks in any case
    // The terminal has sent it to the copy as well, if that is in our group.
    const bool has_copy_got_it = !copies_.front()->plan().has_own_group && info.ssi_code == SI_KERNEL;
    if (!has_copy_got_it) pass_on(number);
  }
}

void Job::pass_on(int number) {
  if (number == SIGTSTP) return handle_terminal_stop();
  const bool ends = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT;
  // The signal is passed on and nothing decided: a single copy ends by it or not, as it would without us.
  if (is_alone() || !ends) {
    for (const auto& copy : copies_) copy->send_signal(number);
    return;
  }
  fail(kExitSignal + number);
  // Asked for twice: no more patience.
  stop_all(is_stopping_ ? SIGKILL : number);
}

void Job::handle_terminal_stop() {
  for (const auto& copy : copies_) copy->send_signal(SIGTSTP);
  // SIGTSTP itself is blocked here, to be read; this process stops by SIGSTOP until the shell continues it.
  ::raise(SIGSTOP);
  for (const auto& copy : copies_) copy->send_signal(SIGCONT);
}

void Job::take_ends() {
  int status = 0;
  // Any child: processes that a copy has left are ours as well (PR_SET_CHILD_SUBREAPER), and are only reaped.
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    for (const auto& copy : copies_) {
      if (copy->take_end(pid, status)) handle_end(*copy);
    }
  }
}

void Job::handle_end(const Copy& copy) {
  if (is_alone()) return;
  // Nobody but the server runs then.
  if (is_awaiting_server_) {
    is_awaiting_server_ = false;
    listen_by_.reset();
    if (is_stopping_) return;
    say([status = *copy.status()] {
      print_error(
          fmt::format("the server ended with exit status {} before it listened; no client was started", status));
    });
    return fail(*copy.status() == 0 ? kExitFailure : *copy.status());
  }
  if (*copy.status() != 0 && !copy.was_stopped()) {
    const bool has_others = is_any_running() && !is_stopping_;
    say([this, text = fmt::format("{} ended with exit status {}{}", copy.plan().name, *copy.status(),
                                  has_others ? "; stopping the others" : "")] { summary_.note(text); });
    fail(*copy.status());
    return stop_all(SIGTERM);
  }
  if (!is_stopping_ && !is_any_client_left()) handle_clients_end();
}

void Job::handle_clients_end() {
  // Whatever runs now is the server: it has the time of --grace to end by itself.
  if (is_any_running()) server_ends_by_ = Clock::now() + to_ticks(plan_.grace);
}

void Job::handle_reports() {
  for (const Report& report : reports_.take()) {
    summary_.add(report);
    findings_.add(report);
    said_.add(report);
    const bool listens = report.kind == "listen" || report.kind == "socket";
    // Only the server runs then, so the report is its own.
    if (!listens || !is_awaiting_server_) continue;
    is_awaiting_server_ = false;
    listen_by_.reset();
    start_all(false);
  }
}

void Job::handle_deadlines() {
  const auto now = Clock::now();
  const auto has_come = [&](std::optional<Clock::time_point>& deadline) {
    if (!deadline || now < *deadline) return false;
    deadline.reset();
    return true;
  };
  if (has_come(timeout_at_)) {
    say([this] { print_error(fmt::format("stopped after {:g} seconds (--timeout)", plan_.timeout.count())); });
    failure_ = kExitTimedOut;
    stop_all(SIGTERM);
  }
  if (has_come(listen_by_)) handle_no_listener();
  // The server has served.
  if (has_come(server_ends_by_)) stop_all(SIGTERM);
  if (has_come(kill_at_)) stop_all(SIGKILL);
}

void Job::handle_no_listener() {
  is_awaiting_server_ = false;
  say([this] {
    print_error(
        fmt::format("the server does not listen after {:g} seconds: it has neither a DAT service point nor a socket "
                    "that listens; --listen-within gives it more time",
                    plan_.listen_within.count()));
  });
  fail(kExitFailure);
  stop_all(SIGTERM);
}

void Job::stop_all(int number) {
  for (const auto& copy : copies_) copy->stop(number);
  is_stopping_ = true;
  is_awaiting_server_ = false;
  listen_by_.reset();
  server_ends_by_.reset();
  kill_at_.reset();
  // Every process that still runs at that time gets SIGKILL.
  if (number != SIGKILL) kill_at_ = Clock::now() + to_ticks(plan_.grace);
}

// What a copy has left running in its group is told to end, too.
void Job::end_leftovers() {
  const auto is_any_left = [&] {
    take_ends();
    return std::any_of(copies_.begin(), copies_.end(), [](const auto& copy) { return copy->has_leftovers(); });
  };
  for (const int number : {SIGTERM, SIGKILL}) {
    const auto until = Clock::now() + to_ticks(plan_.grace);
    for (const auto& copy : copies_) copy->send_to_leftovers(number);
    while (is_any_left() && Clock::now() < until) {
      pollfd polled{.fd = signals_, .events = POLLIN, .revents = 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
      ::poll(&polled, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000)));
      signalfd_siginfo info;
      while (::read(signals_, &info, sizeof info) > 0) {
      }
    }
  }
}

// Nobody may read standard error, and signals and deadlines are heeded all the same.
void Job::say(const std::function<void()>& message) {
  unsaid_.push_back(message);
  say_at_once();
}

void Job::say_at_once() {
  while (!unsaid_.empty() && error_turn_.holder == nullptr && takes_more(STDERR_FILENO)) {
    unsaid_.front()();
    unsaid_.erase(unsaid_.begin());
  }
}

void Job::fail(int status) {
  if (!failure_) failure_ = status;
}

}  // namespace softdat::tools::run
