// SPDX-License-Identifier: BSD-2-Clause
// Where processes of one user meet: the directories that are used, and the names in them.
#include "transport/shm/rendezvous.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "tests/base/holds_in_child.h"
#include "tests/runtime_directory.h"
#include "transport/shm/segment.h"
#include "transport/shm/unix_socket.h"

namespace softdat::transport::shm {
namespace {

namespace fs = std::filesystem;
using base::testing::holds_in_child;

constexpr base::IpAddress kAddress{.ipv4 = 0x7f00'0109};
// Unique to this process: other cases run at the same time and fall back to the same directories.
const std::uint64_t kService = static_cast<std::uint64_t>(::getpid()) << 8 | 1;

// A runtime directory of its own, so that nothing of other processes is in the first candidate.
class RendezvousTest : public testing::Test {
 protected:
  std::string directory() const { return root_ + "/softdat"; }
  std::string file() const { return meeting_.path(kAddress, kService); }
  bool can_connect() const { return static_cast<bool>(meeting_.connect(kAddress, kService).fd); }

  // As a process that was killed leaves it.
  void leave_stale_file() {
    const std::string path = file();
    fs::create_directory(directory());
    ASSERT_EQ(::chmod(directory().c_str(), 0700), 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    ASSERT_LT(path.size(), sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size());
    const base::UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ASSERT_TRUE(fs::exists(path));
  }

  const RuntimeDirectory runtime_;
  const std::string root_ = runtime_.path();
  Rendezvous meeting_;
};

TEST_F(RendezvousTest, AListenerIsFoundWhileItLives) {
  EXPECT_FALSE(can_connect());
  {
    const Listening listening = meeting_.listen(kAddress, kService);
    ASSERT_TRUE(listening.socket) << std::strerror(listening.error);
    EXPECT_TRUE(can_connect());
  }
  EXPECT_FALSE(can_connect());
  EXPECT_FALSE(fs::exists(directory())) << "the last one out removes the directory";
}

TEST_F(RendezvousTest, OnlyTheUserMayEnter) {
  for (const mode_t mask : {0, 022, 0777}) {
    const mode_t before = ::umask(mask);
    const Listening listening = meeting_.listen(kAddress, kService);
    ::umask(before);
    ASSERT_TRUE(listening.socket);
    struct stat found = {};
    ASSERT_EQ(::stat(directory().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0700u);
    ASSERT_EQ(::stat(file().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 07777, 0600u);
  }
}

TEST_F(RendezvousTest, ANameIsTakenOnce) {
  const Listening first = meeting_.listen(kAddress, kService);
  ASSERT_TRUE(first.socket);
  const Listening second = meeting_.listen(kAddress, kService);
  EXPECT_FALSE(second.socket);
  EXPECT_EQ(second.error, EADDRINUSE);
  EXPECT_TRUE(can_connect());
}

TEST_F(RendezvousTest, TheNameOfAListenerIsTakenInEveryDirectory) {
  ::unsetenv("XDG_RUNTIME_DIR");
  const Listening first = meeting_.listen(kAddress, kService);
  ASSERT_TRUE(first.socket);
  ::setenv("XDG_RUNTIME_DIR", root_.c_str(), 1);
  EXPECT_EQ(meeting_.listen(kAddress, kService).error, EADDRINUSE);
  EXPECT_TRUE(can_connect());
}

TEST_F(RendezvousTest, AStaleFileIsReplaced) {
  leave_stale_file();
  EXPECT_EQ(meeting_.connect(kAddress, kService).error, ECONNREFUSED);
  const Listening listening = meeting_.listen(kAddress, kService);
  ASSERT_TRUE(listening.socket) << std::strerror(listening.error);
  EXPECT_TRUE(can_connect());
}

TEST_F(RendezvousTest, StaleFilesAreSweptAndLiveOnesKept) {
  const Listening live = meeting_.listen(kAddress, kService + 1);
  leave_stale_file();
  meeting_.sweep();
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_TRUE(meeting_.connect(kAddress, kService + 1).fd);
  const base::UniqueFd only(accept_from(live.socket.get()).fd);
  EXPECT_TRUE(only);
  EXPECT_EQ(accept_from(live.socket.get()).error, EAGAIN) << "the sweep connected to a listener";
}

TEST_F(RendezvousTest, ASurvivorRemovesWhatADeadPeerLeft) {
  leave_stale_file();
  EXPECT_TRUE(meeting_.remove_if_stale(kAddress, kService));
  EXPECT_FALSE(fs::exists(directory()));
  const Listening listening = meeting_.listen(kAddress, kService);
  EXPECT_FALSE(meeting_.remove_if_stale(kAddress, kService)) << "a listener is alive";
  EXPECT_TRUE(can_connect());
}

// Every process that opens an adapter sweeps. A stale name that goes while a listener looks at it is not "in use".
TEST_F(RendezvousTest, AStaleFileThatIsSweptMeanwhileIsNotInUse) {
  // A live neighbour keeps the directory, so that only the file comes and goes.
  const Listening neighbour = meeting_.listen(kAddress, kService + 1);
  std::atomic<bool> is_over{false};
  std::thread sweeper([&] {
    while (!is_over) meeting_.sweep();
  });
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    fs::remove(file());
    leave_stale_file();
    const Listening listening = meeting_.listen(kAddress, kService);
    if (listening.error == EADDRINUSE) ++refused;
  }
  is_over = true;
  sweeper.join();
  EXPECT_EQ(refused, 0);
}

// A process that was stopped with the lock in hand.
TEST_F(RendezvousTest, ALockThatNobodyGivesBackHangsNobody) {
  leave_stale_file();
  const base::UniqueFd holder(::open(directory().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::flock(holder.get(), LOCK_EX), 0);
  const base::Time begin = base::Clock::now();
  const Listening listening = meeting_.listen(kAddress, kService);
  EXPECT_LT(base::Clock::now() - begin, std::chrono::seconds(20));
  EXPECT_TRUE(listening.socket) << "in the next directory: " << std::strerror(listening.error);
  EXPECT_TRUE(can_connect());
}

TEST_F(RendezvousTest, ADirectoryThatOthersMayEnterIsNotUsed) {
  for (const mode_t mode : {0755, 0770, 0777, 01700, 02700}) {
    fs::remove_all(directory());
    ASSERT_EQ(::mkdir(directory().c_str(), 0700), 0);
    ASSERT_EQ(::chmod(directory().c_str(), mode), 0);
    const Listening listening = meeting_.listen(kAddress, kService);
    EXPECT_TRUE(listening.socket) << "in the next directory";
    EXPECT_TRUE(fs::is_empty(directory()));
    EXPECT_TRUE(can_connect());
  }
}

TEST_F(RendezvousTest, ASymbolicLinkIsNotFollowed) {
  ASSERT_EQ(::mkdir((root_ + "/elsewhere").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("elsewhere", directory().c_str()), 0);
  const Listening listening = meeting_.listen(kAddress, kService);
  EXPECT_TRUE(fs::is_empty(root_ + "/elsewhere"));
}

TEST_F(RendezvousTest, AnotherUsersDirectoryIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(::mkdir(directory().c_str(), 0700), 0);
  ASSERT_EQ(::chown(directory().c_str(), 12345, 12345), 0);
  const Listening listening = meeting_.listen(kAddress, kService);
  EXPECT_TRUE(fs::is_empty(directory()));
}

TEST_F(RendezvousTest, ADirectoryThatDisappearsIsMadeAgain) {
  const Listening first = meeting_.listen(kAddress, kService);
  fs::remove_all(directory());
  EXPECT_FALSE(can_connect());
  const Listening second = meeting_.listen(kAddress, kService + 1);
  EXPECT_TRUE(second.socket) << std::strerror(second.error);
}

TEST_F(RendezvousTest, AListenerFindsItsPlaceWhileOthersRemoveTheDirectory) {
  std::atomic<int> problems{0};
  std::vector<std::thread> listeners;
  for (std::uint64_t i = 0; i < 4; ++i) {
    listeners.emplace_back([&, service = kService + i] {
      for (int round = 0; round < 500; ++round) {
        const Listening listening = meeting_.listen(kAddress, service);
        if (!listening.socket || !fs::exists(meeting_.path(kAddress, service))) ++problems;
      }
    });
  }
  for (std::thread& listener : listeners) listener.join();
  EXPECT_EQ(problems, 0);
  EXPECT_FALSE(fs::exists(directory())) << "the last one out removes the directory";
}

TEST_F(RendezvousTest, AFileThatIsSomebodyElsesByNowStays) {
  auto first = std::make_unique<Listening>(meeting_.listen(kAddress, kService));
  ASSERT_TRUE(first->socket);
  fs::remove(file());
  const Listening second = meeting_.listen(kAddress, kService);
  ASSERT_TRUE(second.socket);
  first.reset();
  EXPECT_TRUE(can_connect());
}

TEST_F(RendezvousTest, AForkedChildUnlinksNothing) {
  auto listening = std::make_unique<Listening>(meeting_.listen(kAddress, kService));
  EXPECT_TRUE(holds_in_child([&] {
    listening.reset();
    return true;
  }));
  EXPECT_TRUE(can_connect());
}

TEST_F(RendezvousTest, AListenerOfAnotherBuildIsToldOfButNotFound) {
  EXPECT_EQ(meeting_.other_version(kAddress, kService), 0u);
  const Listening listening = meeting_.listen(kAddress, kService);
  const std::string name = fs::path(file()).filename();
  const std::string other = "77" + name.substr(name.find('-'));
  fs::rename(file(), directory() + '/' + other);
  EXPECT_FALSE(can_connect());
  EXPECT_EQ(meeting_.other_version(kAddress, kService), 77u);
  EXPECT_EQ(meeting_.other_version(kAddress, kService + 1), 0u);
}

TEST_F(RendezvousTest, WithAUsableDirectoryThereIsNoProblemAndNothingIsLeft) {
  EXPECT_EQ(meeting_.problem(), "");
  EXPECT_FALSE(fs::exists(directory()));
}

}  // namespace
}  // namespace softdat::transport::shm
