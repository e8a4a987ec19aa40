// SPDX-License-Identifier: BSD-2-Clause
// Files of sockets, while other processes look for dead ones.
#include "base/socket_directory.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>

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
    EXPECT_FALSE(socket_directory::remove_if_stale(name));
    ++looks;
  };
  const Listening listener = socket_directory::listen(name);
  g_before_listen = nullptr;
  ASSERT_TRUE(listener.socket) << listener.error;
  EXPECT_EQ(looks, 1);
  EXPECT_TRUE(socket_directory::connect(name).fd);
}

}  // namespace
}  // namespace softdat::base
