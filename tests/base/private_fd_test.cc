// SPDX-License-Identifier: BSD-2-Clause
#include "base/private_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

namespace softdat::base {
namespace {

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

UniqueFd open_something() {
  return UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(PrivateFd, IsClosedWhenItGoes) {
  int number = -1;
  {
    const PrivateFd fd(open_something());
    number = fd.get();
    ASSERT_TRUE(fd);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(PrivateFd, MovesItsDescriptor) {
  PrivateFd from(open_something());
  const int number = from.get();
  PrivateFd to(open_something());
  to = std::move(from);
  EXPECT_EQ(to.get(), number);
  EXPECT_TRUE(is_open(number));
  to.reset();
  EXPECT_FALSE(to);
  EXPECT_FALSE(is_open(number));
}

// The child's answer: 0 when the private one is closed there, the other is open, and to let go of
// the object closes nothing of the same number.
TEST(PrivateFd, ChildHasItNot) {
  PrivateFd ours(open_something());
  const UniqueFd shared = open_something();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool is_as_said = !is_open(ours.get()) && is_open(shared.get());
    const bool has_same_number = ::dup2(shared.get(), ours.get()) == ours.get();
    const int number = ours.get();
    ours.reset();
    ::_exit(is_as_said && has_same_number && is_open(number) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(is_open(ours.get()));
}

}  // namespace
}  // namespace softdat::base
