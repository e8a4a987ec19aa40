// SPDX-License-Identifier: BSD-2-Clause
// Lines on a standard error that does not take them.
#include "base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <string>

#include "tests/base/holds_in_child.h"

namespace softdat::base {
namespace {

constexpr unsigned kHang_s = 60;

std::string read_now(int fd) {
  std::string all;
  char text[4096];
  for (ssize_t got; (got = ::read(fd, text, sizeof text)) > 0;) all.append(text, static_cast<std::size_t>(got));
  return all;
}

// A pipe as standard error; the reading end does not block.
int become_a_pipe() {
  int ends[2];
  if (::pipe(ends) != 0 || ::dup2(ends[1], STDERR_FILENO) < 0) return -1;
  ::close(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return ends[0];
}

void fill_standard_error() {
  const int flags = ::fcntl(STDERR_FILENO, F_GETFL);
  ::fcntl(STDERR_FILENO, F_SETFL, flags | O_NONBLOCK);
  const std::string page(PIPE_BUF, '.');
  while (::write(STDERR_FILENO, page.data(), page.size()) > 0) {
  }
  ::fcntl(STDERR_FILENO, F_SETFL, flags);
}

TEST(Log, ALineThatIsLongerThanAPipeTakesAtOnceArrivesWhole) {
  EXPECT_TRUE(testing::holds_in_child([] {
    ::alarm(kHang_s);
    const int reader = become_a_pipe();
    const std::string line = std::string(3 * PIPE_BUF, 'x') + '\n';
    write_line(line);
    return read_now(reader) == line;
  }));
}

TEST(Log, APipeThatNobodyReadsAnyMoreDoesNotEndTheProcess) {
  EXPECT_TRUE(testing::holds_in_child([] {
    ::signal(SIGPIPE, SIG_DFL);
    ::close(become_a_pipe());
    write_line("lost\n");
    return true;
  }));
}

TEST(Log, AReaderThatHasStoppedHoldsNothingUpAndGetsLaterLines) {
  EXPECT_TRUE(testing::holds_in_child([] {
    ::alarm(kHang_s);
    const int reader = become_a_pipe();
    fill_standard_error();
    for (int i = 0; i < 1000; ++i) write_line("lost\n");
    static_cast<void>(read_now(reader));
    write_line("heard\n");
    return read_now(reader) == "heard\n";
  }));
}

}  // namespace
}  // namespace softdat::base
