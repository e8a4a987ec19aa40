// SPDX-License-Identifier: BSD-2-Clause
#include "tools/softdat/observe/screen.h"

#define NCURSES_NOMACROS 1  // some have the names of our functions
#include <curses.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clocale>

#include "tools/softdat/dat_call.h"
#include "tools/softdat/observe/cursor.h"
#include "tools/softdat/observe/table.h"

namespace softdat::tools::observe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEscape = 27;
constexpr int kDelete = 127;
constexpr int kBackspace = 8;

constexpr const char* kHelp[] = {
    "up, down, page up, page down, home, end   move",
    "enter, right                              from a process to its endpoints, and to one of them",
    "escape, left, backspace                   back",
    "<  >                                      sort by the column on the left, on the right",
    "r                                         reverse the order",
    "/                                         show only rows with this text; empty: all",
    "p, space                                  pause, go on",
    "h, ?                                      this help",
    "q                                         quit"};

// Curses puts the terminal back at SIGINT and SIGTERM, and knows no SIGQUIT, which Ctrl-\ sends.
void end_by_quit(int) {
  ::raise(SIGTERM);
}

// The terminal, from initscr() to endwin().
class Terminal {
 public:
  Terminal() {
    if (::isatty(STDOUT_FILENO) == 0) throw Failure("standard output is not a terminal; use --once or --json");
    if (::isatty(STDIN_FILENO) == 0) throw Failure("standard input is not a terminal; use --once or --json");
    std::setlocale(LC_CTYPE, "");
    screen_ = ::newterm(nullptr, stdout, stdin);
    if (screen_ == nullptr) throw Failure("TERM names no terminal that is known here; use --once, or set TERM");
    if (!can_place_cursor()) {
      ::endwin();
      ::delscreen(screen_);
      throw Failure("the terminal that TERM names cannot place its cursor; use --once, or set TERM");
    }
    ::cbreak();
    ::noecho();
    ::keypad(stdscr, TRUE);
    ::set_escdelay(50);
    ::curs_set(0);
    struct sigaction ends = {};
    ends.sa_handler = end_by_quit;
    ::sigaction(SIGQUIT, nullptr, &quit_);
    if (quit_.sa_handler != SIG_IGN) ::sigaction(SIGQUIT, &ends, nullptr);
  }
  ~Terminal() {
    ::endwin();
    ::delscreen(screen_);
    ::sigaction(SIGQUIT, &quit_, nullptr);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

 private:
  SCREEN* screen_ = nullptr;
  struct sigaction quit_ = {};  // as it was before
};

// Its window was closed, and SIGHUP ignored, as by nohup.
bool has_terminal_gone() {
  pollfd entry{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 1 && (entry.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

class Screen {
 public:
  Screen(Scanner& scanner, const ScreenOptions& options)
      : scanner_(scanner),
        interval_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.interval_s))),
        filter_(options.filter),
        pid_(options.pid),
        column_(options.sort_column),
        is_reversed_(options.is_reversed) {
    if (pid_ != 0) enter(View::kEndpoints);
  }

  void run() {
    for (;;) {
      const auto now = Clock::now();
      if (now >= next_scan_ && !is_paused_) {
        scan();
        next_scan_ = now + interval_;
      }
      draw();
      const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(next_scan_ - Clock::now()).count() + 1;
      // How long getch() waits for a key; then it returns ERR, which obey() takes for none.
      ::timeout(is_paused_ ? -1 : static_cast<int>(std::clamp<std::int64_t>(rest, 1, 3'600'000)));
      const int key = ::getch();
      if (key == ERR && has_terminal_gone()) return;
      if (!obey(key)) return;
    }
  }

 private:
  enum class View { kProcesses, kEndpoints, kEndpoint };

  const Process* chosen() const {
    const auto is_it = [this](const Process& each) { return each.pid == pid_ && each.start == start_; };
    const auto found = std::find_if(now_.begin(), now_.end(), is_it);
    return found == now_.end() ? nullptr : &*found;
  }

  void scan() {
    before_ = std::move(now_);
    now_ = scanner_.scan();
    if (pid_ == 0 || start_ != 0) return;
    // --pid names the process that has the number now, and no later one.
    for (const Process& each : now_) {
      if (each.pid == pid_) start_ = each.start;
    }
  }

  void enter(View view) {
    view_ = view;
    line_ = top_ = 0;
    if (view == View::kEndpoints) column_ = 0;
  }

  bool make_table() {
    if (view_ == View::kEndpoint) return false;
    const Process* const process = chosen();
    // The process has ended, or its number is another's now: an empty table, and the title says so.
    if (view_ == View::kEndpoints && process == nullptr) {
      table_ = {};
      return true;
    }
    table_ = view_ == View::kProcesses ? process_table(now_, before_) : endpoint_table(*process, before_);
    if (!filter_.empty()) filter_rows(table_, filter_);
    sort_rows(table_, column_, is_reversed_);
    return true;
  }

  std::string title() const {
    const std::string tail = fmt::format("{}{}", filter_.empty() ? "" : fmt::format("  filter \"{}\"", filter_),
                                         is_paused_ ? "  paused" : "");
    if (view_ == View::kProcesses) {
      std::size_t endpoints = 0;
      for (const Process& process : now_) endpoints += process.snapshot.eps.size();
      return fmt::format("softdat top: {} processes, {} endpoints{}", now_.size(), endpoints, tail);
    }
    const Process* const process = chosen();
    if (process == nullptr) return fmt::format("process {} shows no counters (any more){}", pid_, tail);
    return fmt::format("process {} {}: {} endpoints{}", pid_, process->program, process->snapshot.eps.size(), tail);
  }

  void put(int row, const std::string& text, attr_t attributes) {
    if (row >= LINES || COLS <= 0) return;
    ::attrset(static_cast<int>(attributes));
    ::mvaddnstr(row, 0, text.c_str(), COLS);
    ::attrset(A_NORMAL);
  }

  // How many rows the terminal has room for.
  std::size_t room() const { return static_cast<std::size_t>(std::max(LINES - 3, 1)); }

  void draw() {
    ::erase();
    put(0, title(), A_BOLD);
    if (is_helping_) {
      int row = 2;
      for (const char* line : kHelp) put(row++, line, A_NORMAL);
    } else if (make_table()) {
      draw_table();
    } else {
      draw_endpoint();
    }
    // In two lines it lies above the table's head.
    ::move(LINES - 1, 0);
    ::clrtoeol();
    put(LINES - 1, is_asking_ ? "/" + asked_ : "q quit  enter open  esc back  < > sort  r reverse  / filter  ? help",
        A_DIM);
    ::refresh();
  }

  void draw_table() {
    const std::vector<std::string> lines = lines_of(table_);
    put(1, lines.front(), A_REVERSE);
    if (table_.rows.empty()) {
      if (view_ == View::kProcesses) put(2, "No process shows its counters. Start one with softdat run.", A_NORMAL);
      line_ = top_ = 0;
      return;
    }
    line_ = std::min(line_, table_.rows.size() - 1);
    scroll();
    for (std::size_t i = top_; i < table_.rows.size() && i < top_ + room(); ++i) {
      put(static_cast<int>(2 + i - top_), lines[i + 1], i == line_ ? A_STANDOUT : A_NORMAL);
    }
  }

  void draw_endpoint() {
    const Process* const process = chosen();
    std::vector<std::string> lines;
    if (process != nullptr) lines = endpoint_lines(*process, endpoint_);
    if (lines.empty()) lines.emplace_back("This endpoint is gone.");
    top_ = line_ = std::min(line_, lines.size() - 1);
    for (std::size_t i = top_; i < lines.size() && i < top_ + room(); ++i) {
      put(static_cast<int>(2 + i - top_), lines[i], A_NORMAL);
    }
  }

  void scroll() {
    if (line_ < top_) top_ = line_;
    if (line_ >= top_ + room()) top_ = line_ - room() + 1;
  }

  void move(std::ptrdiff_t by) {
    const auto to = static_cast<std::ptrdiff_t>(line_) + by;
    line_ = to < 0 ? 0 : static_cast<std::size_t>(to);  // draw() has the upper limit
  }

  void open() {
    if (view_ == View::kEndpoint || line_ >= table_.rows.size()) return;
    if (view_ == View::kProcesses) {
      pid_ = table_.rows[line_].pid;
      start_ = table_.rows[line_].start;
      return enter(View::kEndpoints);
    }
    endpoint_ = table_.rows[line_].endpoint;
    enter(View::kEndpoint);
  }

  void go_back() {
    if (view_ != View::kProcesses) enter(view_ == View::kEndpoint ? View::kEndpoints : View::kProcesses);
  }

  void sort_by(int step) {
    const std::size_t count = std::max<std::size_t>(table_.columns.size(), 1);
    column_ = (column_ + count + static_cast<std::size_t>(static_cast<std::ptrdiff_t>(count) + step)) % count;
  }

  // While the filter is typed.
  void take_letter(int key) {
    if (key == '\n' || key == KEY_ENTER) {
      filter_ = asked_;
      is_asking_ = false;
      line_ = top_ = 0;
    } else if (key == kEscape) {
      is_asking_ = false;
    } else if (key == KEY_BACKSPACE || key == kDelete || key == kBackspace) {
      if (!asked_.empty()) asked_.pop_back();
    } else if (key >= ' ' && key <= '~') {
      asked_ += static_cast<char>(key);
    }
  }

  // False: the user leaves.
  bool obey(int key) {
    if (is_asking_) {
      take_letter(key);
      return true;
    }
    if (key != ERR && key != KEY_RESIZE) is_helping_ = is_helping_ ? false : key == 'h' || key == '?';
    switch (key) {
      case 'q':
        return false;
      case KEY_UP:
        move(-1);
        break;
      case KEY_DOWN:
        move(1);
        break;
      case KEY_PPAGE:
        move(-static_cast<std::ptrdiff_t>(room()));
        break;
      case KEY_NPAGE:
        move(static_cast<std::ptrdiff_t>(room()));
        break;
      default:
        obey_other(key);
    }
    return true;
  }

  void obey_other(int key) {
    constexpr std::size_t kEnd = 1'000'000'000;
    switch (key) {
      case KEY_HOME:
        line_ = 0;
        break;
      case KEY_END:
        line_ = kEnd;
        break;
      case '\n':
      case KEY_ENTER:
      case KEY_RIGHT:
        return open();
      case kEscape:
      case KEY_LEFT:
      case KEY_BACKSPACE:
      case kDelete:
      case kBackspace:
        return go_back();
      case '<':
        return sort_by(-1);
      case '>':
        return sort_by(1);
      case 'r':
        is_reversed_ = !is_reversed_;
        break;
      case 'p':
      case ' ':
        is_paused_ = !is_paused_;
        break;
      case '/':
        is_asking_ = true;
        asked_.clear();
        break;
      default:
        break;
    }
  }

  Scanner& scanner_;
  const Clock::duration interval_;
  std::string filter_;
  std::string asked_;
  std::vector<Process> now_;
  std::vector<Process> before_;
  Table table_;
  View view_ = View::kProcesses;
  pid_t pid_ = 0;
  std::uint64_t start_ = 0;  // of that process; 0: not known yet
  std::uint64_t endpoint_ = 0;
  std::size_t column_ = 0;
  std::size_t line_ = 0;  // the chosen one
  std::size_t top_ = 0;   // the first that is seen
  bool is_reversed_ = false;
  bool is_paused_ = false;
  bool is_asking_ = false;
  bool is_helping_ = false;
  Clock::time_point next_scan_{};
};

}  // namespace

void run_screen(Scanner& scanner, const ScreenOptions& options) {
  const Terminal terminal;
  Screen(scanner, options).run();
}

}  // namespace softdat::tools::observe
