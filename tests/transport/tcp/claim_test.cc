// SPDX-License-Identifier: BSD-2-Clause
// A service id that is not its own TCP port is served once per user.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/backoff.h"
#include "base/unique_fd.h"
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

// The name of that claim, bound and not listening yet, as it is for a moment in claim_service().
base::UniqueFd half_claim() {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "softdat-tcp/7f00010c/%016llx",
                                   static_cast<unsigned long long>(service()));
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(length));
  return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), size) == 0 ? std::move(fd) : base::UniqueFd();
}

TEST(Claim, ThatIsBeingMadeIsAwaited) {
  {
    const auto whole = claim_service(kAddress, service());
    ASSERT_FALSE(half_claim()) << "the name is another one";
  }
  for (int round = 0; round < 20;) {
    const base::UniqueFd half = half_claim();
    ASSERT_TRUE(half);
    const auto begin = std::chrono::steady_clock::now();
    int reason = 0;
    std::thread other([&reason] {
      const auto second = claim_service(kAddress, service());
      reason = second.ok() ? 0 : second.reason();
    });
    base::nap();
    ASSERT_EQ(::listen(half.get(), 1), 0);
    const bool is_in_time = std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(50);
    other.join();
    if (!is_in_time) continue;  // the patience of the other may be over
    ++round;
    EXPECT_EQ(reason, EADDRINUSE) << round;
  }
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
