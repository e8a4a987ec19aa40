// SPDX-License-Identifier: BSD-2-Clause
#include "base/quiet_write.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "tests/base/holds_in_child.h"

namespace softdat::base {
namespace {

constexpr std::array<std::byte, 8> kBytes{};

volatile std::sig_atomic_t g_handled = 0;

int pipe_without_reader() {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  ::close(ends[0]);
  return ends[1];
}

bool is_pending(int signal) {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(QuietWrite, WritesAsWriteDoes) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(quiet_write(ends[1], kBytes), std::ssize(kBytes));
  std::array<std::byte, 16> got{};
  EXPECT_EQ(::read(ends[0], got.data(), got.size()), std::ssize(kBytes));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(QuietWrite, APipeWithoutAReaderRaisesNoSignal) {
  EXPECT_TRUE(testing::holds_in_child([] {
    ::signal(SIGPIPE, SIG_DFL);
    const ssize_t written = quiet_write(pipe_without_reader(), kBytes);
    return written == -1 && errno == EPIPE && !is_pending(SIGPIPE) && !is_blocked(SIGPIPE);
  }));
}

TEST(QuietWrite, CallsNoHandlerOfTheProgram) {
  EXPECT_TRUE(testing::holds_in_child([] {
    ::signal(SIGPIPE, [](int) { g_handled = 1; });
    static_cast<void>(quiet_write(pipe_without_reader(), kBytes));
    return g_handled == 0;
  }));
}

TEST(QuietWrite, TheLimitOnFileSizesRaisesNoSignal) {
  EXPECT_TRUE(testing::holds_in_child([] {
    ::signal(SIGXFSZ, SIG_DFL);
    const int file = ::memfd_create("limited", 0);
    const rlimit limit = {4, 4};
    if (file < 0 || ::setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    const ssize_t written = quiet_pwrite(file, kBytes, 4);
    return written == -1 && errno == EFBIG && !is_pending(SIGXFSZ) && !is_blocked(SIGXFSZ);
  }));
}

TEST(QuietWrite, ASignalThatTheProgramHasPendingStaysPending) {
  EXPECT_TRUE(testing::holds_in_child([] {
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &mask, nullptr);
    ::raise(SIGPIPE);
    static_cast<void>(quiet_write(pipe_without_reader(), kBytes));
    return is_pending(SIGPIPE) && is_blocked(SIGPIPE);
  }));
}

}  // namespace
}  // namespace softdat::base
