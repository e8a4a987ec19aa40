// SPDX-License-Identifier: BSD-2-Clause
#include "libdat/object/notification_descriptor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/base/holds_in_child.h"

namespace softdat::object {
namespace {

bool is_readable(int fd) {
  pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(NotificationDescriptor, IsReadableWhileItIsRaised) {
  NotificationDescriptor descriptor;
  ASSERT_TRUE(descriptor.open().ok());
  EXPECT_FALSE(is_readable(descriptor.number()));
  descriptor.raise();
  EXPECT_TRUE(is_readable(descriptor.number()));
  descriptor.lower();
  EXPECT_FALSE(is_readable(descriptor.number()));
}

// As after closefrom(3) and open() of its own.
TEST(NotificationDescriptor, AFileOfTheProgramUnderOurNumberIsNotWrittenTo) {
  EXPECT_TRUE(base::testing::holds_in_child([] {
    NotificationDescriptor descriptor;
    if (!descriptor.open().ok()) return false;
    const int file = ::memfd_create("of the program", 0);
    for (int fd = 3; fd <= descriptor.number() + 8; ++fd) {
      if (fd != file) ::dup2(file, fd);
    }
    descriptor.raise();
    descriptor.lower();
    struct stat status = {};
    return ::fstat(file, &status) == 0 && status.st_size == 0 && ::lseek(file, 0, SEEK_CUR) == 0;
  }));
}

}  // namespace
}  // namespace softdat::object
