// SPDX-License-Identifier: BSD-2-Clause
// What a peer has sent is closed without waiting for it.
#include "transport/shm/reaper.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "tests/transport/shm/lingering_socket.h"
#include "transport/shm/rendezvous.h"
#include "transport/shm/unix_socket.h"

namespace softdat::transport::shm {
namespace {

class ReaperTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    here_.reset(ends[0]);
    there_.reset(ends[1]);
  }
  // Everything that it began is over.
  void TearDown() override {
    lingering_.end();
    while (is_reaper_full()) std::this_thread::yield();
  }
  void send(std::size_t length, bool with_descriptor) {
    const std::array<std::byte, 8> data{};
    const int fd = lingering_.get();
    ASSERT_TRUE(send_packet(there_.get(), std::span(data).first(length), std::span(&fd, with_descriptor ? 1 : 0)));
  }
  template <typename Act>
  void expect_at_once(Act act) {
    lingering_.let_go();
    const base::Time begin = base::Clock::now();
    act();
    EXPECT_LT(base::Clock::now() - begin, LingeringSocket::kAtOnce);
  }

  base::UniqueFd here_, there_;
  LingeringSocket lingering_;
};

TEST_F(ReaperTest, AForeignDescriptorIsClosedElsewhere) {
  const int foreign = ::fcntl(lingering_.get(), F_DUPFD_CLOEXEC, 3);
  expect_at_once([&] { close_foreign(foreign); });
}

TEST_F(ReaperTest, ASocketIsClosedWithoutWaitingForWhatNobodyHasReceived) {
  send(8, true);
  expect_at_once([&] { close_socket(std::move(here_)); });
}

TEST_F(ReaperTest, PacketsWithoutDescriptorsHideNone) {
  for (int i = 0; i < 5; ++i) send(1, false);
  send(1, true);
  expect_at_once([&] { close_socket(std::move(here_)); });
}

TEST_F(ReaperTest, EmptyPacketsHideNone) {
  send(0, false);
  send(0, true);
  expect_at_once([&] { close_socket(std::move(here_)); });
}

TEST_F(ReaperTest, ASocketWithNothingUnreadIsClosedByTheCaller) {
  send(1, false);
  const int number = here_.get();
  close_socket(std::move(here_));
  EXPECT_LT(::fcntl(number, F_GETFD), 0);
  std::byte byte;
  EXPECT_EQ(::recv(there_.get(), &byte, 1, MSG_DONTWAIT), 0) << "the peer hears of the end";
}

TEST_F(ReaperTest, AListenerIsClosedWithoutWaitingForThoseInItsQueue) {
  const Rendezvous meeting;
  const base::IpAddress address{.ipv4 = 0x7f00'010a};
  const auto service = static_cast<std::uint64_t>(::getpid());
  Listening listening = meeting.listen(address, service);
  ASSERT_TRUE(listening.socket);
  there_ = meeting.connect(address, service).fd;
  send(8, true);
  expect_at_once([&] { close_listener(std::move(listening.socket)); });
}

// A program that calls closefrom(3) and opens sockets of its own has them at our numbers.
TEST_F(ReaperTest, ASocketThatTheProgramHasPutAtOurNumberIsLeftAlone) {
  for (const auto close_it : {close_socket, close_listener}) {
    base::UniqueFd ours(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const int number = ours.get();
    int programs[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, programs), 0);
    ASSERT_EQ(::dup3(programs[0], number, O_CLOEXEC), number);
    ASSERT_EQ(::send(programs[1], "x", 1, 0), 1);
    close_it(std::move(ours));
    char byte = 0;
    EXPECT_EQ(::recv(number, &byte, 1, MSG_DONTWAIT), 1) << "what was in it is still there";
    EXPECT_EQ(::send(programs[1], "y", 1, MSG_NOSIGNAL), 1) << "it is not shut down";
    while (is_reaper_full()) std::this_thread::yield();
    EXPECT_GE(::fcntl(number, F_GETFD), 0);
    for (const int fd : {number, programs[0], programs[1]}) ::close(fd);
  }
}

TEST_F(ReaperTest, IsFullWhileTooMuchWaits) {
  EXPECT_FALSE(is_reaper_full());
  const int blocking = ::fcntl(lingering_.get(), F_DUPFD_CLOEXEC, 3);
  lingering_.let_go();
  close_foreign(blocking);
  // Only the first of them blocks, so more than one may be needed until it is its turn.
  for (int i = 0; i < 3000 && !is_reaper_full(); ++i) close_foreign(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_TRUE(is_reaper_full());
  lingering_.end();
  while (is_reaper_full()) std::this_thread::yield();
}

}  // namespace
}  // namespace softdat::transport::shm
