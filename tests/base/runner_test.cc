// SPDX-License-Identifier: BSD-2-Clause
#include "base/runner.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace softdat::base {
namespace {

// A socket file that listens, in a directory of its own.
class Runner {
 public:
  Runner() {
    EXPECT_NE(::mkdtemp(directory_), nullptr);
    path_ = std::string(directory_) + "/socket";
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, path_.c_str());
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
  }
  ~Runner() {
    ::close(socket_);
    ::unlink(path_.c_str());
    ::rmdir(directory_);
  }

  const std::string& path() const { return path_; }

  // All that one sender sent.
  std::string hear() const {
    const int sender = ::accept(socket_, nullptr, nullptr);
    std::string text;
    char chunk[64];
    for (ssize_t got = 0; (got = ::read(sender, chunk, sizeof chunk)) > 0;)
      text.append(chunk, static_cast<std::size_t>(got));
    ::close(sender);
    return text;
  }

 private:
  char directory_[32] = "/tmp/softdat-runner-XXXXXX";
  std::string path_;
  int socket_ = -1;
};

// The variable is read once in a process: each case has a child of its own. Its exit status.
template <typename Act>
int in_child(const char* path, Act act) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (path != nullptr) ::setenv("SOFTDAT_RUN_SOCKET", path, 1);
    ::_exit(act() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(RunnerTest, HearsWholeLines) {
  const Runner runner;
  EXPECT_EQ(in_child(runner.path().c_str(),
                     [] {
                       tell_runner("open\t1\tsim0\n");
                       return has_runner();
                     }),
            0);
  EXPECT_EQ(runner.hear(), "open\t1\tsim0\n");
}

TEST(RunnerTest, IsNotThereUnlessTheVariableNamesIt) {
  EXPECT_EQ(in_child(nullptr, [] { return !has_runner(); }), 0);
  EXPECT_EQ(in_child("", [] { return !has_runner(); }), 0);
  EXPECT_EQ(in_child(std::string(200, 'x').c_str(), [] { return !has_runner(); }), 0);
}

TEST(RunnerTest, ThatHasGoneIsNoFailure) {
  std::string path;
  {
    const Runner runner;
    path = runner.path();
  }
  EXPECT_EQ(in_child(path.c_str(),
                     [] {
                       tell_runner("open\t1\tsim0\n");
                       return true;
                     }),
            0);
}

TEST(RunnerTest, WordsHaveNoSeparators) {
  EXPECT_EQ(runner_word("a\tb\nc d"), "a b c d");
}

}  // namespace
}  // namespace softdat::base
