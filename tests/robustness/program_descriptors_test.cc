// SPDX-License-Identifier: BSD-2-Clause
// What programs do to descriptors: they close all that they do not know, they run without 0, 1 and 2, they fork.
// Each case runs in a process of its own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tests/conformance/events.h"
#include "tests/conformance/remote_peer.h"

namespace softdat::conformance {
namespace {

// Whether `claim` holds in a child; it says what failed on standard error.
bool holds_in_child(const std::function<bool(int report)>& claim) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(300);
    const int report = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100);
    bool is_good = false;
    try {
      is_good = claim(report);
    } catch (const std::exception& failure) {
      ::dprintf(report, "threw: %s\n", failure.what());
    }
    ::_exit(is_good ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool is_open(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(DescriptorsOfAProgram, ThoseThatItOpensAfterCloseFromAreItsOwn) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UBSan opens a pipe to look at an object, and closes it after the program has closed and reopened it";
#endif
  EXPECT_TRUE(holds_in_child([](int report) {
    auto pair = std::make_unique<ConnectedPair>();
    for (int fd = 3; fd < 1024; ++fd) {
      // Not by close() nor open(): ThreadSanitizer would call that what it is, a race.
      if (fd != report) ::syscall(SYS_close, fd);
    }
    std::array<int, 64> files;
    for (int& file : files) {
      file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC));
    }
    pair.reset();
    int closed = 0;
    for (const int file : files) closed += is_open(file) ? 0 : 1;
    if (closed > 0) ::dprintf(report, "%d of %zu files of the program were closed\n", closed, files.size());
    return closed == 0;
  }));
}

// All sockets that carry a connection, and no other descriptor.
void close_connections() {
  for (int fd = 3; fd < 1024; ++fd) {
    int type = 0;
    int is_listener = 0;
    socklen_t length = sizeof type;
    if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type == SOCK_DGRAM) continue;
    static_cast<void>(::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_listener, &length));
    if (is_listener == 0) ::syscall(SYS_close, fd);
  }
}

// The reactor's own descriptors, which have lower numbers, stay. No kernel tells of a socket that is closed by number.
TEST(DescriptorsOfAProgram, TheEndOfItsConnectionsIsHeardWhenItClosesTheirSockets) {
  EXPECT_TRUE(holds_in_child([](int) {
    ConnectedPair pair;
    close_connections();
    return next_event(pair.client.connect_evd).event_number == DAT_CONNECTION_EVENT_BROKEN &&
           next_event(pair.server.connect_evd).event_number == DAT_CONNECTION_EVENT_BROKEN;
  }));
}

// Whether nobody keeps one of the numbers 0, 1 and 2. A descriptor has the lowest free number for a moment, until it is
// moved to its own (base/unique_fd.h), and UBSan opens pipes to look at objects: each number is awaited.
bool are_standard_numbers_free(int report) {
  for (int fd = 0; fd < 3; ++fd) {
    if (!eventually([fd] { return !is_open(fd); })) {
      ::dprintf(report, "number %d stays open\n", fd);
      return false;
    }
  }
  return true;
}

TEST(DescriptorsOfAProgram, TheStandardNumbersAreLeftAlone) {
  EXPECT_TRUE(holds_in_child([](int report) {
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    {
      ConnectedPair pair;
      expect_conversation(pair.server, pair.client);
      if (!are_standard_numbers_free(report)) return false;
    }
    return are_standard_numbers_free(report);
  }));
}

// Those that are open in the calling process, but for the one that looks.
std::vector<std::string> open_files() {
  std::vector<std::string> files;
  for (int fd = 3; fd < 1024; ++fd) {
    std::array<char, 256> target;
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(link.c_str(), target.data(), target.size());
    if (length > 0)
      files.push_back(std::to_string(fd) + " " + std::string(target.data(), static_cast<std::size_t>(length)));
  }
  return files;
}

// Not those of the libraries that it uses either.
TEST(DescriptorsOfAProgram, AForkedChildHasNoneOfOurs) {
  EXPECT_TRUE(holds_in_child([](int report) {
    const std::vector<std::string> before = open_files();
    ConnectedPair pair;
    if (open_files().size() <= before.size()) return false;
    const bool has_none = holds_in_child([&](int own_report) {
      ::close(own_report);
      std::vector<std::string> left = open_files();
      std::erase_if(left, [&](const std::string& file) { return std::ranges::find(before, file) != before.end(); });
      for (const std::string& file : left) ::dprintf(report, "still open in the child: %s\n", file.c_str());
      return left.empty();
    });
    expect_conversation(pair.server, pair.client);
    return has_none && !testing::Test::HasFailure();
  }));
}

TEST(DescriptorsOfAProgram, TheDeathOfAServerIsHeardWhileAChildOfItLives) {
  RemotePeer victim;
  Peer survivor(kClientName);
  victim.connect(survivor);
  ASSERT_EQ(victim.ask("fork"), "done");
  victim.process().kill();
  EXPECT_EQ(next_event(survivor.connect_evd).event_number, DAT_CONNECTION_EVENT_BROKEN);
}

}  // namespace
}  // namespace softdat::conformance
