// SPDX-License-Identifier: BSD-2-Clause
// Files of sockets, while other processes look for dead ones.
#include "base/socket_directory.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <string>

namespace {

std::function<void()> g_before_listen;

}  // namespace

// In the place of the C library's. The file is bound then.
extern "C" int listen(int socket, int backlog) noexcept {
  if (g_before_listen) g_before_listen();
  return static_cast<int>(::syscall(SYS_listen, socket, backlog));
}

namespace softdat::base {
namespace {

TEST(SocketDirectory, AListenerThatOnlyBeginsIsNotTakenForADeadOne) {
  const std::string name = "test-listener-" + std::to_string(::getpid());
  int looks = 0;
  g_before_listen = [&] {
    EXPECT_TRUE(socket_directory::is_live(name));
    EXPECT_FALSE(socket_directory::remove_if_stale(name));
    ++looks;
  };
  const Listening listener = socket_directory::listen(name);
  g_before_listen = nullptr;
  ASSERT_TRUE(listener.socket) << listener.error;
  EXPECT_EQ(looks, 1);
  EXPECT_TRUE(socket_directory::connect(name).fd);
}

// While bind(2) makes the file, the file has no socket yet and looks stale. A process needs the lock to unlink it.
TEST(SocketDirectory, AListenerIsMadeUnderTheLockOfTheDirectory) {
  const std::string name = "test-listener-" + std::to_string(::getpid());
  const std::filesystem::path file = socket_directory::path(name);
  int looks = 0;
  g_before_listen = [&] {
    const UniqueFd other(::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), -1);
    EXPECT_EQ(errno, EWOULDBLOCK);
    ++looks;
  };
  const Listening listener = socket_directory::listen(name);
  g_before_listen = nullptr;
  ASSERT_TRUE(listener.socket) << listener.error;
  EXPECT_EQ(looks, 1);
}

}  // namespace
}  // namespace softdat::base
