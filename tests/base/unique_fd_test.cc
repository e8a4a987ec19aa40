// SPDX-License-Identifier: BSD-2-Clause
#include "base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "base/standard_numbers.h"
#include "tests/base/holds_in_child.h"

namespace softdat::base {
namespace {

using testing::holds_in_child;

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

int open_something() {
  return ::open("/dev/null", O_RDONLY | O_CLOEXEC);
}

TEST(UniqueFd, ClosesAtItsEnd) {
  int number = -1;
  {
    UniqueFd fd(open_something());
    number = fd.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(UniqueFd, MoveLeavesNothingBehind) {
  UniqueFd first(open_something());
  UniqueFd second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_TRUE(is_open(second.get()));
}

TEST(UniqueFd, AssignmentClosesWhatWasHeld) {
  UniqueFd from(open_something());
  const int number = from.get();
  UniqueFd to(open_something());
  const int before = to.get();
  to = std::move(from);
  EXPECT_EQ(to.get(), number);
  EXPECT_TRUE(is_open(number));
  EXPECT_FALSE(is_open(before));
}

TEST(UniqueFd, ReleaseGivesTheDescriptorAway) {
  UniqueFd fd(open_something());
  const int number = fd.release();
  EXPECT_FALSE(fd);
  EXPECT_TRUE(is_open(number));
  EXPECT_TRUE(holds_in_child([&] { return is_open(number); }));
  ::close(number);
}

TEST(UniqueFd, AForkedChildHasItNot) {
  UniqueFd ours(open_something());
  const int other = open_something();
  EXPECT_TRUE(holds_in_child([&] { return !is_open(ours.get()) && is_open(other); }));
  EXPECT_TRUE(is_open(ours.get()));
  ::close(other);
}

TEST(UniqueFd, TheObjectInAForkedChildClosesNothingOfTheSameNumber) {
  UniqueFd ours(open_something());
  const int other = open_something();
  EXPECT_TRUE(holds_in_child([&] {
    const int number = ours.get();
    const bool has_same_number = ::dup2(other, number) == number;
    ours.reset();
    return has_same_number && is_open(number);
  }));
  ::close(other);
}

TEST(ClosedInChild, ClosesNumbersOfOthersWhileTheWitnessIsIntact) {
  UniqueFd witness(::memfd_create("witness", MFD_CLOEXEC));
  const int theirs = ::eventfd(0, EFD_CLOEXEC);
  const std::array numbers = {theirs};
  {
    ClosedInChild closed(witness, numbers);
    EXPECT_TRUE(holds_in_child([&] { return !is_open(theirs) && !is_open(witness.get()); }));
    EXPECT_TRUE(is_open(theirs));
    const int other = open_something();
    const int number = witness.get();
    ASSERT_EQ(::dup2(other, number), number);
    EXPECT_TRUE(holds_in_child([&] { return is_open(theirs); })) << "the numbers may be the program's by now";
    ::close(other);
    ::close(number);
  }
  ::close(theirs);
}

TEST(ClosedInChild, ForgetsThemAtItsEnd) {
  UniqueFd witness(::memfd_create("witness", MFD_CLOEXEC));
  const int theirs = ::eventfd(0, EFD_CLOEXEC);
  { const ClosedInChild closed(witness, std::array{theirs}); }
  EXPECT_TRUE(holds_in_child([&] { return is_open(theirs); }));
  ::close(theirs);
}

// As after closefrom(3) and an open() of the program's own.
TEST(UniqueFd, ANumberThatNamesAnotherFileIsLeftOpen) {
  const int other = ::memfd_create("other", MFD_CLOEXEC);
  UniqueFd fd(open_something());
  const int number = fd.get();
  EXPECT_TRUE(fd.is_intact());
  ASSERT_EQ(::dup2(other, number), number);
  EXPECT_FALSE(fd.is_intact());
  EXPECT_TRUE(holds_in_child([&] { return is_open(number); })) << "nor is it taken from a child";
  fd.reset();
  EXPECT_TRUE(is_open(number));
  EXPECT_TRUE(holds_in_child([&] { return is_open(number); }));
  ::close(number);
  ::close(other);
}

TEST(UniqueFd, AClosedNumberIsNotIntact) {
  UniqueFd fd(open_something());
  ::close(fd.get());
  EXPECT_FALSE(fd.is_intact());
}

TEST(UniqueFd, StandardNumbersAreExchangedForHigherOnes) {
  EXPECT_TRUE(holds_in_child([] {
    for (int number = 0; number < 3; ++number) ::close(number);
    const UniqueFd fds[] = {UniqueFd(open_something()), UniqueFd(::memfd_create("x", MFD_CLOEXEC))};
    for (const UniqueFd& fd : fds) {
      if (fd.get() < 3 || (::fcntl(fd.get(), F_GETFD) & FD_CLOEXEC) == 0) return false;
    }
    return !is_open(0) && !is_open(1) && !is_open(2);
  }));
}

TEST(StandardNumbers, AreNotFreeWhileTheyAreTaken) {
  EXPECT_TRUE(holds_in_child([] {
    ::close(0);
    ::close(2);
    {
      const StandardNumbersTaken taken;
      if (open_something() < 3) return false;
    }
    return !is_open(0) && is_open(1) && !is_open(2);
  }));
}

}  // namespace
}  // namespace softdat::base
