// SPDX-License-Identifier: BSD-2-Clause
// A service id that is not its own TCP port is served once per user.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/tcp/tcp_port.h"

namespace softdat::transport::tcp {
namespace {

TcpOptions options() {
  return {.address = {.ipv4 = 0x7f00'010c}};
}

std::uint64_t service() {
  return static_cast<std::uint64_t>(::getpid()) << 32 | 9;
}

TEST(Claim, IsHadOnceWhileItLives) {
  {
    const auto first = open_port(options(), service());
    ASSERT_TRUE(first.ok());
    const auto second = open_port(options(), service());
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.reason(), ListenError::kAddressInUse);
    EXPECT_TRUE(open_port(options(), service() + 1).ok());
  }
  EXPECT_TRUE(open_port(options(), service()).ok());
}

// A child serves the id as another user until the pipe is closed.
TEST(Claim, OfAnotherUserIsNoObstacle) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  int ready[2], over[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(over), 0);
  const std::uint64_t id = service();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(over[1]);
    if (::setresuid(54321, 54321, 54321) != 0) ::_exit(1);
    const auto port = open_port(options(), id);
    char byte = port.ok() ? 'y' : 'n';
    static_cast<void>(::write(ready[1], &byte, 1));
    static_cast<void>(::read(over[0], &byte, 1));
    ::_exit(0);
  }
  ::close(ready[1]);
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_TRUE(open_port(options(), id).ok());
  for (const int fd : {over[0], over[1], ready[0]}) ::close(fd);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace softdat::transport::tcp
