// SPDX-License-Identifier: BSD-2-Clause
// A service id that is not its own TCP port is served once per user.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "transport/tcp/socket.h"

namespace softdat::transport::tcp {
namespace {

constexpr Address kAddress{.ipv4 = 0x7f00'010c};

std::uint64_t service() {
  return static_cast<std::uint64_t>(::getpid()) << 32 | 9;
}

TEST(Claim, IsHadOnceWhileItLives) {
  {
    const auto first = claim_service(kAddress, service());
    ASSERT_TRUE(first.ok());
    const auto second = claim_service(kAddress, service());
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.reason(), EADDRINUSE);
    EXPECT_TRUE(claim_service(kAddress, service() + 1).ok());
  }
  EXPECT_TRUE(claim_service(kAddress, service()).ok());
}

// A child claims the name as another user, and keeps it until the pipe is closed.
TEST(Claim, OfAnotherUserIsNoObstacle) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  int ready[2], over[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(over), 0);
  const std::uint64_t id = service();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(over[1]);
    const bool is_claimed = ::setresuid(54321, 54321, 54321) == 0 && claim_service(kAddress, id).ok();
    if (!is_claimed) ::_exit(1);
    const auto claim = claim_service(kAddress, id);
    char byte = claim.ok() ? 'y' : 'n';
    static_cast<void>(::write(ready[1], &byte, 1));
    static_cast<void>(::read(over[0], &byte, 1));
    ::_exit(0);
  }
  ::close(ready[1]);
  char byte = 0;
  EXPECT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_TRUE(claim_service(kAddress, id).ok());
  for (const int fd : {over[0], over[1], ready[0]}) ::close(fd);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace softdat::transport::tcp
